package simplify_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// randomModule draws a typed graph of elementwise operators, reductions,
// composites, parameters, leaf modules and buffer writes over values [N,4].
func randomModule(t *rapid.T) *graph.Module {
	g := graph.New("random")
	m := graph.NewModule(g)
	r := passes.Random{State: rapid.Uint64().Draw(t, "seed")}
	for _, path := range []string{"w", "b", "buf"} {
		m.SetParam(graph.Param{Path: path, Value: r.Array(array.F32, 4), Buffer: path == "buf"})
	}
	m.SetParam(graph.Param{Path: "fc.weight", Value: r.Array(array.F32, 4, 4)})
	m.SetBound("fc", graph.Bound{Op: std.Linear, Attrs: op.None{}, Params: []string{"fc.weight", "b"}, Names: []string{"weight", "bias"}})
	m.SetBound("act", graph.Bound{Op: std.Relu, Attrs: op.None{}})
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(4))), nil)
	g.DefineSymbol("N", x, 0)
	vals := []*graph.Node{x}
	pick := func(what string) *graph.Node { return vals[rapid.IntRange(0, len(vals)-1).Draw(t, what)] }
	for i := range rapid.IntRange(1, 25).Draw(t, "nodes") {
		var n *graph.Node
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			n = c.GetAttr(rapid.SampledFrom([]string{"w", "b"}).Draw(t, "param"))
		case 1:
			n = c.GetAttr("buf")
			n.SetLive(true)
		case 2:
			n = c.Module("act", pick("x"))
		case 3:
			n = c.Module("fc", pick("x"))
		case 4:
			n = c.Method(std.Tanh, nil, pick("x"))
		case 5:
			n = c.Function(std.Softmax, std.DimAttrs{Dim: -1}, pick("x"))
		case 6:
			v := c.Function(std.Sum, std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, pick("x"))
			n = c.Function(std.Mul, nil, v, pick("y"))
		case 7:
			if i%3 == 0 {
				b := c.GetAttr("buf")
				b.SetLive(true)
				c.Function(op.Assign, nil, b, c.Function(std.Neg, nil, c.GetAttr("w")))
			}
			n = c.Function(std.Sub, nil, pick("x"), pick("y"))
		default:
			n = c.Function(std.Add, nil, pick("x"), pick("y"))
		}
		vals = append(vals, n)
	}
	c.Output(&graph.Structure{Kind: graph.Results, Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1)}}, vals[len(vals)-1], pick("result"))
	return m
}

var all = []passes.Pass{simplify.DCE, simplify.CSE, simplify.ConstFold, simplify.Functionalize, simplify.Decompose, simplify.DropUnused, simplify.Identity, simplify.Algebra, simplify.Normalise}

func TestOutputsAreUnchanged(t *testing.T) {
	for _, p := range all {
		t.Run(p.Name, rapid.MakeCheck(func(t *rapid.T) {
			m := randomModule(t)
			before := graph.Clone(m)
			_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{Numeric: &passes.Numeric{}})
			if err != nil {
				t.Fatalf("%v\n%s", err, before)
			}
			if _, ok := m.Graph.Symbol("N"); !ok {
				t.Fatal("the symbol was dropped")
			}
			for n := range m.Graph.All() {
				if n.Type().Kind() == shape.None {
					t.Fatalf("%s has no type", n)
				}
			}
			// A second run finds nothing.
			r, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{})
			if err != nil || r.Changed() {
				t.Fatalf("the second run changes the graph: %v\n%s", err, r.Explain())
			}
		}))
	}
	t.Run("pipeline", rapid.MakeCheck(func(t *rapid.T) {
		m := randomModule(t)
		list := []passes.Pass{simplify.Functionalize, simplify.ConstFold, simplify.Decompose, simplify.CSE, simplify.DCE, simplify.DropUnused}
		if _, err := passes.Run(context.Background(), m, list, passes.Options{Numeric: &passes.Numeric{}}); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestUnknownModuleStays(t *testing.T) {
	m := passtest.Parse(t, "graph g(%x: f32[2]) {\n  return %x\n}\n")
	n := m.Graph.Before(m.Graph.Output()).Module("gone", m.Graph.Find("x"))
	for _, p := range all {
		r, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{NoLint: true})
		require.NoError(t, err, p.Name)
		require.Zero(t, r.Passes[0].Matches, p.Name)
	}
	require.False(t, n.Erased())
}

func TestOpaqueModuleIsKept(t *testing.T) {
	m := passtest.Parse(t, "graph g(%x: f32[2]) {\n  return %x\n}\n")
	m.SetBound("user", graph.Bound{Op: op.NewAdHoc("example.com/net", "Block.Forward", op.Args("x"), false, false, nil), Attrs: op.None{}})
	m.Graph.Before(m.Graph.Output()).Module("user", m.Graph.Find("x"))
	m.Graph.Before(m.Graph.Output()).Module("gone", m.Graph.Find("x"))
	r, err := passes.Run(context.Background(), m, []passes.Pass{simplify.Functionalize, simplify.DCE}, passes.Options{NoLint: true})
	require.NoError(t, err)
	require.Contains(t, r.Explain(), "%user left as it is: module user is opaque")
	require.Contains(t, r.Explain(), "%gone left as it is: nothing is known of module gone")
	require.NotNil(t, m.Graph.Find("user"), "an opaque call may have effects")
}

func TestDropUnused(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  return %w
}
param w : f32[2]
param gone : f32[2]
module gone = relu ()
`)
	r, err := passes.Run(context.Background(), m, []passes.Pass{simplify.DropUnused}, passes.Options{})
	require.NoError(t, err)
	require.Len(t, m.Params(), 1)
	require.Nil(t, m.Bound("gone"))
	require.Contains(t, r.Explain(), "dropped 1 parameters")
}

func TestDecomposeExcept(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[2,3]) {
  %a = call_function[std](%x) {dim=[1]} : f32[2]
  %b = call_function[logsumexp](%x) {dim=[1]} : f32[2]
  return %a, %b
}
`)
	p := simplify.DecomposeExcept(func(n *graph.Node) bool { return n.Op() == std.Std })
	_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{})
	require.NoError(t, err)
	require.NotNil(t, m.Graph.Find("a"))
	require.Nil(t, m.Graph.Find("b"))
}

// large makes a chain of n calls in which one node in ten is computed twice and
// one in ten is unused.
func large(n int) *graph.Module {
	g := graph.New("large")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(4))), nil)
	g.DefineSymbol("N", x, 0)
	cur := x
	for g.Len() < n {
		for range 6 {
			cur = c.Function(std.Relu, nil, cur)
		}
		a := c.Function(std.Neg, nil, cur)
		b := c.Method(std.Neg, nil, cur)
		c.Function(std.Exp, nil, b)
		cur = c.Function(std.Add, nil, a, b)
	}
	c.Output(nil, cur)
	return m
}

// BenchmarkRun shows what the driver adds: a clone, lint and facts.
func BenchmarkRun(b *testing.B) {
	m := large(100000)
	for range b.N {
		if _, err := passes.Run(context.Background(), graph.Clone(m), []passes.Pass{simplify.CSE, simplify.DCE}, passes.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPass is the time of passes that ask every call what it computes.
func BenchmarkPass(b *testing.B) {
	for _, p := range []passes.Pass{simplify.Identity, simplify.Algebra, simplify.Normalise} {
		for _, size := range []int{1000, 10000, 100000} {
			b.Run(fmt.Sprint(p.Name, "/", size), func(b *testing.B) {
				base := large(size)
				for range b.N {
					b.StopTimer()
					m := graph.Clone(base)
					b.StartTimer()
					if _, err := p.Run(passes.NewCtx(context.Background(), m), m.Graph); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkDCEAndCSE(b *testing.B) {
	for _, size := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			base := large(size)
			for range b.N {
				b.StopTimer()
				m := graph.Clone(base)
				c := passes.NewCtx(context.Background(), m)
				b.StartTimer()
				for _, p := range []passes.Pass{simplify.CSE, simplify.DCE} {
					if _, err := p.Run(c, m.Graph); err != nil {
						b.Fatal(err)
					}
				}
				if c.Matches() < size/10 {
					b.Fatal(c.Matches())
				}
			}
		})
	}
}
