package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// randomGraph draws a graph of elementwise operators, reductions, joins and
// many views, over inputs of symbolic size and a weight.
func randomGraph(r *rapid.T) *graph.Module {
	g := graph.New("random")
	m := graph.NewModule(g)
	c := g.At()
	f32 := func(d ...shape.Dim) shape.Type { return shape.TensorType(array.F32, shape.Of(d...)) }
	n, k := shape.Sym("N"), shape.Const
	x := c.Placeholder("x", f32(n, k(4), k(6)), nil)
	g.DefineSymbol("N", x, 0)
	y := c.Placeholder("y", f32(k(6), n), nil)
	var gen op.Gen
	m.SetParam(graph.Param{Path: "w", Value: gen.Normal(4, 6)})
	nodes := []*graph.Node{x, y, c.GetAttr("w")}
	pick := func() *graph.Node { return rapid.SampledFrom(nodes).Draw(r, "operand") }
	axis := func(v *graph.Node) int { return rapid.IntRange(0, v.Type().Rank()-1).Draw(r, "axis") }
	for range rapid.IntRange(1, 25).Draw(r, "nodes") {
		v := pick()
		switch rapid.IntRange(0, 9).Draw(r, "kind") {
		case 0:
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Relu, std.Neg, std.Abs}).Draw(r, "unary"), nil, v)
		case 1:
			u := pick()
			if !u.Type().Same(v.Type()) {
				u = v
			}
			v = c.Function(rapid.SampledFrom([]*op.Op{std.Add, std.Sub, std.Mul}).Draw(r, "binary"), nil, v, u)
		case 2:
			v = c.Function(std.Transpose, std.TransposeAttrs{Dim0: axis(v), Dim1: axis(v)}, v)
		case 3:
			a, b := axis(v), axis(v)
			v = c.Function(std.Flatten, std.FlattenAttrs{StartDim: min(a, b), EndDim: max(a, b)}, v)
		case 4:
			if v.Type().Rank() < 5 {
				v = c.Function(std.Unsqueeze, std.DimAttrs{Dim: axis(v)}, v)
			}
		case 5:
			a := axis(v)
			if size, ok := v.Type().Dim(a).Int(); ok && size > 1 {
				v = c.Function(std.Slice, std.SliceAttrs{Dim: a, Start: k(1), Stop: k(size), Step: 1 + size%2}, v)
			}
		case 6:
			v = c.Function(std.Sum, std.ReduceAttrs{Dim: op.IntList(axis(v)), KeepDim: true}, v)
		case 7:
			a := axis(v)
			if size, ok := v.Type().Dim(a).Int(); !ok || size < 100 {
				v = c.Function(std.Cat, std.DimAttrs{Dim: a}, v, v)
			}
		case 8:
			a := axis(v)
			if size, ok := v.Type().Dim(a).Int(); ok && size >= 2 && size%2 == 0 {
				v = c.ItemNode(c.Function(std.Chunk, std.ChunkAttrs{Chunks: 2, Dim: a}, v), size/2%2)
			}
		case 9:
			v = c.Function(std.Dropout, std.DropoutAttrs{P: 0.5}, v)
		}
		nodes = append(nodes, v)
	}
	outputs(r, c, pick)
	return m
}

// outputs makes one to four values the results.
func outputs(r *rapid.T, c *graph.Cursor, pick func() *graph.Node) {
	s := &graph.Structure{Kind: graph.Results}
	var out []*graph.Node
	for i := range rapid.IntRange(1, 4).Draw(r, "outputs") {
		out = append(out, pick())
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, out...)
}

func TestRandomGraphsEqualTheInterpreter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := randomGraph(r)
		e, err := cpu.Compile(m, lowering.Options{Threads: 1})
		require.NoError(r, err)
		var gen op.Gen
		for range 2 {
			n := rapid.IntRange(0, 5).Draw(r, "N")
			in := []*array.Array{gen.Normal(n, 4, 6), gen.Normal(6, n)}
			if rapid.Bool().Draw(r, "strided") {
				in[0], in[1] = gen.Strided(in[0]), gen.Strided(in[1])
			}
			out, err := e.Run(ctx, in)
			require.NoError(r, err)
			want := interpret(t, m, in...)
			require.Len(r, out, len(want))
			for i := range want {
				require.Equal(r, want[i].Shape(), out[i].Shape())
				require.Equal(r, bits(want[i]), bits(out[i]), "result %d of\n%s", i, e.Plan())
			}
			again(t, e, in, want)
		}
	})
}

// TestRandomControl runs graphs with branches and loops, for two sizes each.
func TestRandomControl(t *testing.T) {
	count := 100
	if fxtest.IsNightly() {
		count = 3000
	}
	graphs := rapid.Custom(fxtest.RandomControl)
	for k := range count {
		m := graphs.Example(k)
		e := compile(t, m, lowering.Options{})
		for _, n := range []int{1, 3} {
			in, err := passes.Inputs(m.Graph, map[string]int{"N": n}, uint64(k))
			require.NoError(t, err)
			got, err := e.Run(ctx, in)
			require.NoError(t, err, "%s", m.Graph)
			require.Empty(t, fxtest.CloseArrays(interpret(t, m, in...), got), "%s", m.Graph)
		}
	}
}
