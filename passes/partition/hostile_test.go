package partition_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	_ "github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// The models of package cases, with state, control flow, opaque functions and sizes found
// in a run: parts keep what they compute and write.
func TestProposeCases(t *testing.T) {
	every := append(cases.All(), cases.Writes()...)
	for i, c := range every {
		t.Run(c.Name, func(t *testing.T) {
			for seed, share := range []int{30, 60, 100} {
				fresh := append(cases.All(), cases.Writes()...)[i] // state is written
				gm, err := fx.Trace(ctx, fresh.Fn, fresh.Opts...)
				require.NoError(t, err)
				m := graph.Clone(gm.Module) // with buffers of its own
				p, err := partition.Propose(m.Graph, sometimes(uint64(seed*57+i), share), partition.Options{})
				require.NoError(t, err)
				before := m.String()
				_, err = partition.Fuse(m, p.Parts...)
				require.NoError(t, err, "%s\n%s", p, before)
				require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
				for _, in := range fresh.Inputs {
					args := make([]*array.Array, len(in))
					for k, x := range in {
						args[k] = x.Array()
					}
					want := copies(fresh.Eager(in))
					got := run(t, m, args)
					if d := fxtest.SameArrays(want, got); d != "" {
						t.Fatalf("%s\n%s\n%s", d, before, m)
					}
				}
			}
		})
	}
}

func copies(in []*tensor.Tensor) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, x := range in {
		out[i] = array.Clone(x.Array())
	}
	return out
}

// Every network, for a few predicates: parts are as proposed, the graph of calls is
// right, and inlined it is the network again.
func TestProposeModels(t *testing.T) {
	for _, model := range models.All() {
		p := tracer.Tracer{}
		for _, in := range model.Inputs {
			p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
		}
		traced, err := p.Trace(ctx, model.New())
		require.NoError(t, err)
		_, err = passes.Run(ctx, traced, []passes.Pass{simplify.Functionalize}, passes.Options{})
		require.NoError(t, err)
		for name, supports := range map[string]partition.Supports{
			"products": named("linear", "matmul", "conv2d", "bmm"),
			"elementwise": func(n *graph.Node) (bool, string) {
				return n.Op().Class == op.Elementwise, "not elementwise"
			},
			"half": sometimes(7, 50),
			"all":  sometimes(7, 100),
		} {
			m := traced.WithGraph(traced.Graph.Clone())
			calls := count(m)
			p, err := partition.Propose(m.Graph, supports, partition.Options{})
			require.NoError(t, err)
			o := newOrder(t, m.Graph, p, supports)
			require.False(t, o.cyclic(-1), "%s, %s", model.Name, name)
			require.Equal(t, o.fewest(), o.parts, "%s, %s", model.Name, name)
			_, err = partition.Fuse(m, p.Parts...)
			require.NoError(t, err, "%s, %s", model.Name, name)
			require.NoError(t, graph.Lint(m.Graph).Err())
			_, err = passes.Run(ctx, m, []passes.Pass{simplify.Inline}, passes.Options{})
			require.NoError(t, err)
			require.Equal(t, calls, count(m), "%s, %s", model.Name, name)
		}
	}
}

func count(m *graph.Module) map[string]int {
	calls := map[string]int{}
	for n := range m.All() {
		if n.Opcode().IsCall() {
			calls[n.Op().Name+" "+n.Type().String()]++
		}
	}
	return calls
}

// Effects keep their order, and reads stay on their side of a write: two parts where
// operands alone would allow one.
func TestProposeEffects(t *testing.T) {
	m := parsed(`graph g(%x: f32[2]) {
  %s = get_attr[s] : f32[2]
  %a = call_function[add](%s, %x) : f32[2]
  %w = call_function[assign](%s, %x) : f32[2]
  %b = call_function[add](%s, %x) : f32[2]
  %c = call_function[relu](%x) : f32[2]
  return (%a, %b, %c)
}
param s : f32[2] buffer
`)
	m.SetParam(graph.Param{Path: "s", Buffer: true, Value: array.FromSlice([]float32{1, 2}, 2)})
	p, err := partition.Propose(m.Graph, func(*graph.Node) (bool, string) { return true, "" }, partition.Options{})
	require.NoError(t, err)
	require.Equal(t, "part0: %a %c\npart1: %b\nleft: %w: it writes state\n", p.String())
	_, err = partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	got := run(t, m, []*array.Array{array.FromSlice([]float32{10, 20}, 2)})
	require.Equal(t, []float32{11, 22}, array.Data[float32](got[0]))
	require.Equal(t, []float32{20, 40}, array.Data[float32](got[1]))
}

const body = `graph g(%p: bool[], %x: f32[N]) {
  symbol N = dim(%x, 0)
  %y = call_function[cond](%p, %x) : f32[N] {
    region(%r: f32[N]) {
      %a = call_function[relu](%r)
      %b = call_function[exp](%a)
      %c = call_function[add](%b, %a)
      return %c
    }
    region(%r: f32[N]) {
      %d = call_function[relu](%r)
      return %d
    }
  }
  return %y
}
`

// Control flow goes as one; a body can be cut on its own.
func TestProposeBodies(t *testing.T) {
	m := parsed(body)
	p, err := partition.Propose(m.Graph, named("relu", "add", "cond"), partition.Options{})
	require.NoError(t, err)
	require.Equal(t, "left: %y: %b inside of it: only relu, add, cond\n", p.String())
	in := []*array.Array{array.Scalar(true), array.FromSlice([]float32{1, -2, 3}, 3)}
	want := run(t, m, in)

	whole := parsed(body)
	p, err = partition.Propose(whole.Graph, named("relu", "add", "cond", "exp"), partition.Options{})
	require.NoError(t, err)
	require.Equal(t, "part0: %y\n", p.String())
	_, err = partition.Fuse(whole, p.Parts...)
	require.NoError(t, err)
	fxtest.Same(t, "whole", want, run(t, whole, in))

	p, err = partition.Propose(m.Graph.Find("y").Regions()[0], named("relu", "add"), partition.Options{})
	require.NoError(t, err)
	require.Equal(t, "part0: %a\npart1: %c\nleft: %b: only relu, add\n", p.String())
	calls, err := partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	require.Equal(t, m.Graph.Find("y").Regions()[0], calls[0].Graph())
	require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
	fxtest.Same(t, "body", want, run(t, m, in))
}

// A call of a sub-graph goes with what it runs, and a sub-graph can be cut, too.
func TestProposeSubgraphs(t *testing.T) {
	m := parsed(accelerated)
	p, err := partition.Propose(m.Graph, fast, partition.Options{Name: "npu"})
	require.NoError(t, err)
	in := []*array.Array{array.FromSlice([]float32{1, -2}, 2)}
	want := run(t, m, in)
	_, err = partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	p, err = partition.Propose(m.Graph, func(n *graph.Node) (bool, string) { return n.Op().Name != "exp", "no" }, partition.Options{Name: "again"})
	require.NoError(t, err)
	require.Equal(t, "again0: %npu0\nagain1: %npu1\nleft: %b: no\n", p.String())
	_, err = partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	p, err = partition.Propose(m.Sub("npu1"), named("relu"), partition.Options{Name: "deep"})
	require.NoError(t, err)
	_, err = partition.Fuse(m, p.Parts...)
	require.NoError(t, err)
	require.NotNil(t, m.Sub("deep0"))
	require.NoError(t, graph.Lint(m.Graph).Err())
	fxtest.Same(t, "calls of calls", want, run(t, m, in))
}

// positive is opaque; how many values it gives depends on what they are.
func positive(x *tensor.Tensor) *tensor.Tensor {
	var out []float32
	for _, v := range tensor.Data[float32](x) {
		if v > 0 {
			out = append(out, v)
		}
	}
	return tensor.FromSlice(out, len(out))
}

var found = tensor.WrapPure(positive, tensor.Signature("f32[N] -> f32[?]"))

// Sizes that are found in a run go where they are spoken of.
func TestPropose_sizesOfData(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
		k := found(x)
		z := tensor.Zeros(k.Size(0), 2)
		r := k.Relu().Unsqueeze(-1)
		return r.Add(z).Exp(), z.Relu()
	}, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	for seed := range 40 {
		m := graph.Clone(gm.Module)
		p, err := partition.Propose(m.Graph, sometimes(uint64(seed), 20+2*seed), partition.Options{})
		require.NoError(t, err)
		_, err = partition.Fuse(m, p.Parts...)
		require.NoError(t, err, "%s\n%s", p, m)
		require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
		for _, data := range [][]float32{{1, -2, 3}, {1, 2, 3}, {-1, -1, -1}} {
			in := []*array.Array{array.FromSlice(data, 3)}
			if d := fxtest.SameArrays(run(t, gm.Module, in), run(t, m, in)); d != "" {
				t.Fatalf("%s\n%s", d, m)
			}
		}
	}
}
