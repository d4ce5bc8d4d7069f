package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

var square = shape.TensorType(array.F32, shape.ConstDims(4, 4))

// statefulGraph draws a graph that reads and writes two buffers, with views of
// them, of a weight and of an input, in bodies of control flow too, and returns some
// of its values.
func statefulGraph(r *rapid.T) *graph.Module {
	g := graph.New("stateful")
	m := graph.NewModule(g)
	c := g.At()
	var gen op.Gen
	for _, path := range []string{"a", "b", "w"} {
		m.SetParam(graph.Param{Path: path, Value: gen.Normal(4, 4), Buffer: path != "w"})
	}
	d := &drawing{r: r, c: c, nodes: []*graph.Node{c.Placeholder("x", square, nil)}}
	d.draw(20)
	outputs(r, c, d.pick)
	return m
}

// drawing is a graph or a region that is being drawn; nodes are square values.
type drawing struct {
	r     *rapid.T
	c     *graph.Cursor
	nodes []*graph.Node
	depth int
}

func (d *drawing) pick() *graph.Node { return rapid.SampledFrom(d.nodes).Draw(d.r, "operand") }

func (d *drawing) picks(most int) (list []*graph.Node) {
	for range rapid.IntRange(1, most).Draw(d.r, "operands") {
		list = append(list, d.pick())
	}
	return list
}

func (d *drawing) draw(most int) {
	r, c := d.r, d.c
	kinds := 13
	if d.depth == 2 {
		kinds = 10
	}
	for range rapid.IntRange(1, most).Draw(r, "nodes") {
		v := d.pick()
		switch rapid.IntRange(0, kinds-1).Draw(r, "kind") {
		case 0, 1:
			v = c.GetAttr(rapid.SampledFrom([]string{"a", "b", "w"}).Draw(r, "path"))
		case 2:
			v = c.Function(std.T, nil, v)
		case 3:
			v = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(4, 4)}, c.Function(std.Flatten, std.FlattenAttrs{StartDim: 0, EndDim: 1}, v))
		case 4:
			halves := c.Function(std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: rapid.IntRange(0, 1).Draw(r, "dim")}, v)
			u := c.ItemNode(halves, rapid.IntRange(0, 1).Draw(r, "half"))
			v = c.Function(std.Cat, std.DimAttrs{Dim: rapid.IntRange(0, 1).Draw(r, "dim")}, u, u)
			if !v.Type().Same(square) {
				v = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(4, 4)}, v)
			}
		case 5:
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Clone, std.Relu}).Draw(r, "copy"), nil, v)
		case 6:
			v = c.Function(std.Cast, std.CastAttrs{DType: array.F32}, v)
		case 7:
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Add, std.Sub, std.Copy}).Draw(r, "binary"), nil, v, d.pick())
		case 10:
			v = d.cond()
		case 11:
			v = d.while()
		case 12:
			v = d.scan()
		default:
			b := c.GetAttr(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "buffer"))
			v = c.Function(op.Assign, nil, b, v)
		}
		d.nodes = append(d.nodes, v)
	}
}

// region draws the body of a call on operands; first returns what it returns before
// the other results.
func (d *drawing) region(args []*graph.Node, results int, sliced func(i int) bool, first func(in *drawing, all []*graph.Node) []*graph.Node) *graph.Graph {
	g := d.c.Graph().NewRegion("body")
	in := &drawing{r: d.r, c: g.At(), depth: d.depth + 1}
	var all []*graph.Node
	for i, a := range args {
		t := a.Type()
		if sliced(i) {
			t = t.WithDims(t.Dims().Sub(1, t.Rank()))
		}
		p := in.c.Placeholder("p", t, nil)
		all = append(all, p)
		if t.Same(square) {
			in.nodes = append(in.nodes, p)
		}
	}
	for i, p := range all {
		if sliced(i) {
			in.nodes = append(in.nodes, in.c.Function(std.Add, nil, p, in.c.GetAttr("w")))
		}
	}
	in.draw(6)
	out := first(in, all)
	for range results {
		out = append(out, in.pick())
	}
	s := &graph.Structure{Kind: graph.Results}
	for i := range out {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	in.c.Output(s, out...)
	return g
}

func nothing(*drawing, []*graph.Node) []*graph.Node { return nil }

func none(int) bool { return false }

// some is one of the results of n, from the first to the last.
func (d *drawing) some(n *graph.Node, first, last int) *graph.Node {
	return d.c.ItemNode(n, rapid.IntRange(first, last).Draw(d.r, "result"))
}

func (d *drawing) cond() *graph.Node {
	args, results := d.picks(3), rapid.IntRange(1, 2).Draw(d.r, "results")
	pred := d.c.Function(std.Gt, std.BinaryAttrs{Other: op.Float(0)}, d.c.Function(std.Sum, nil, d.pick()))
	rs := []*graph.Graph{d.region(args, results, none, nothing), d.region(args, results, none, nothing)}
	return d.some(d.c.Region(op.Cond, nil, rs, append([]*graph.Node{pred}, args...)...), 0, results-1)
}

// while draws a loop of up to three rounds, whose condition may write too.
func (d *drawing) while() *graph.Node {
	carried, rounds := d.picks(2), rapid.IntRange(0, 3).Draw(d.r, "rounds")
	count := d.c.Function(std.Zeros, std.SizeAttrs{DType: array.I64})
	args := append(append([]*graph.Node{count}, carried...), d.picks(2)...)
	carry := 1 + len(carried)
	test := d.region(args, 0, none, func(in *drawing, all []*graph.Node) []*graph.Node {
		return []*graph.Node{in.c.Function(std.Lt, std.BinaryAttrs{Other: op.Int(int64(rounds))}, all[0])}
	})
	single(test)
	body := d.region(args, len(carried), none, func(in *drawing, all []*graph.Node) []*graph.Node {
		return []*graph.Node{in.c.Function(std.Add, std.AddAttrs{Other: op.Int(1)}, all[0])}
	})
	return d.some(d.c.Region(op.While, op.LoopAttrs{Carry: carry}, []*graph.Graph{test, body}, args...), 1, carry-1)
}

// single makes a region return its only result as it is.
func single(g *graph.Graph) {
	old := g.Output()
	v := old.Arg(0)
	if err := g.Erase(old); err != nil {
		panic(err)
	}
	g.At().Output(nil, v)
}

func (d *drawing) scan() *graph.Node {
	carried, seq := d.picks(2), d.pick()
	args := append(append(append([]*graph.Node{}, carried...), seq), d.picks(2)...)
	carry := len(carried)
	body := d.region(args, carry, func(i int) bool { return i == carry }, nothing)
	last := d.c.Region(op.Scan, op.LoopAttrs{Carry: carry, Seqs: 1}, []*graph.Graph{body}, args...)
	return d.some(last, 0, carry-1)
}

// TestStateEqualsTheInterpreter runs such graphs several times next to the
// interpreter, which has buffers of its own.
func TestStateEqualsTheInterpreter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := statefulGraph(r)
		e := compileIn(r, m)
		fresh := graph.Clone(m)
		for _, p := range fresh.Params() {
			q := *p
			q.Value = array.Clone(p.Value)
			fresh.SetParam(q)
		}
		var gen op.Gen
		for range 3 {
			x := gen.Normal(4, 4)
			out, err := e.Run(ctx, []*array.Array{x})
			require.NoError(r, err)
			want := interpret(t, fresh, array.Clone(x))
			for i := range want {
				require.Equal(r, bits(want[i]), bits(out[i]), "result %d of\n%s", i, e.Plan())
			}
			ownMemory(r, m, e.State, x, out)
			for _, path := range []string{"a", "b"} {
				if a := e.State(path); a != nil {
					require.Equal(r, bits(fresh.Param(path).Value), bits(a), "buffer %s of\n%s", path, e.Plan())
				}
			}
			for _, a := range out { // what the caller writes to results is the caller's
				fill := array.Data[float32](a)
				for k := range fill {
					fill[k] = -77
				}
			}
		}
	})
}

// TestPassesKeepWhatBodiesCompute runs such graphs next to what simplification makes of
// them.
func TestPassesKeepWhatBodiesCompute(t *testing.T) {
	changed, kinds := map[string]int{}, []string{"results are not used", "no body uses", "themselves", "given twice"}
	simplified := func(r require.TestingT, m *graph.Module) *graph.Module {
		made := graph.Clone(m)
		for _, p := range made.Params() {
			q := *p
			q.Value = array.Clone(p.Value)
			made.SetParam(q)
		}
		list := []passes.Pass{simplify.Functionalize, simplify.ConstFold, simplify.CSE, simplify.DCE}
		report, err := passes.Run(ctx, made, list, passes.Options{})
		require.NoError(r, err, "%s", m)
		for _, e := range report.Passes {
			for _, l := range e.Log {
				for _, why := range kinds {
					if strings.Contains(l.Why, why) {
						changed[why]++
					}
				}
			}
		}
		return made
	}
	rapid.Check(t, func(r *rapid.T) {
		m := statefulGraph(r)
		made := simplified(r, m)
		var gen op.Gen
		for range 3 {
			x := gen.Normal(4, 4)
			want, got := interpret(t, m, array.Clone(x)), interpret(t, made, x)
			for i := range want {
				require.Equal(r, bits(want[i]), bits(got[i]), "result %d of\n%s\nfrom\n%s", i, made, m)
			}
			for _, path := range []string{"a", "b"} {
				if p := made.Param(path); p != nil {
					require.Equal(r, bits(m.Param(path).Value), bits(p.Value), "buffer %s of\n%s\nfrom\n%s", path, made, m)
				}
			}
		}
	})
	// Of graphs that are drawn again each time all may lack one of the kinds; these are the same each time.
	clear(changed)
	graphs := rapid.Custom(statefulGraph)
	for k := range 60 {
		simplified(t, graphs.Example(k))
	}
	for _, why := range kinds {
		require.Positive(t, changed[why], "%v", changed)
	}
	t.Log(changed)
}

// ownMemory requires that no result shares memory with another, an input, a
// parameter or state.
func ownMemory(r require.TestingT, m *graph.Module, state func(string) *array.Array, x *array.Array, out []*array.Array) {
	seen := map[*array.Storage]bool{x.Storage(): true}
	for _, p := range m.Params() {
		seen[p.Value.Storage()] = true
		if a := state(p.Path); a != nil {
			seen[a.Storage()] = true
		}
	}
	for i, a := range out {
		require.False(r, seen[a.Storage()], "result %d shares memory", i)
		seen[a.Storage()] = true
	}
}

func compileIn(r *rapid.T, m *graph.Module) *cpu.Executable {
	e, err := cpu.Compile(m, lowering.Options{Threads: 1})
	require.NoError(r, err)
	return e
}

// TestStateIsWhatThePlanWrites asks for a weight, which this plan has packed, and for
// what it writes.
func TestStateIsWhatThePlanWrites(t *testing.T) {
	m := module(t, `
graph net(%x: f32[1,4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w) : f32[1,4]
  %b = get_attr[sum] : f32[1,4]
  %z = call_function[assign](%b, %y) : f32[1,4]
  return %y
}
param w : f32[4,4]
param sum : f32[1,4] buffer
`)
	e := compile(t, m, lowering.Options{})
	require.Nil(t, e.State("w"))
	require.Nil(t, e.State("v"))
	require.Equal(t, []int{1, 4}, e.State("sum").Shape())
}
