package cpu_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// TestExactPlansKeepTheOrderOfElements multiplies what gives its operand, or nearly so,
// of matrices that do not lie in order: products sum in the order of what they read, so
// an exact plan must lay values out as the interpreter does.
func TestExactPlansKeepTheOrderOfElements(t *testing.T) {
	var gen op.Gen
	turn := func(c *graph.Cursor, n *graph.Node) *graph.Node {
		return c.Function(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, n)
	}
	between := map[string]func(c *graph.Cursor, n *graph.Node) *graph.Node{
		"nothing": func(_ *graph.Cursor, n *graph.Node) *graph.Node { return n },
		"clone":   func(c *graph.Cursor, n *graph.Node) *graph.Node { return c.Function(std.Clone, nil, n) },
		"dropout": func(c *graph.Cursor, n *graph.Node) *graph.Node { return c.Function(std.Dropout, nil, n) },
		"cast": func(c *graph.Cursor, n *graph.Node) *graph.Node {
			return c.Function(std.Cast, std.CastAttrs{DType: array.F32}, n)
		},
		"neg": func(c *graph.Cursor, n *graph.Node) *graph.Node { return c.Function(std.Neg, nil, n) },
		"clone and neg": func(c *graph.Cursor, n *graph.Node) *graph.Node {
			return c.Function(std.Neg, nil, c.Function(std.Clone, nil, n))
		},
		"neg and clone": func(c *graph.Cursor, n *graph.Node) *graph.Node {
			return c.Function(std.Clone, nil, c.Function(std.Neg, nil, n))
		},
		"clone turned": func(c *graph.Cursor, n *graph.Node) *graph.Node {
			return turn(c, c.Function(std.Clone, nil, turn(c, n)))
		},
		"dropout, clone": func(c *graph.Cursor, n *graph.Node) *graph.Node {
			return c.Function(std.Clone, nil, c.Function(std.Dropout, nil, n))
		},
	}
	for name, f := range between {
		for _, size := range [][]int{{3, 3}, {5, 5}, {4, 7, 7}, {2, 33, 33}, {100, 100}} {
			g := graph.New("net")
			m := graph.NewModule(g)
			c := g.At()
			typ := shape.TensorType(array.F32, shape.ConstDims(size...))
			x, y := c.Placeholder("x", typ, nil), c.Placeholder("y", typ, nil)
			v := f(c, turn(c, x))
			s := &graph.Structure{Kind: graph.Results, Fields: []*graph.Structure{graph.Leaf(0), graph.Leaf(1), graph.Leaf(2)}}
			c.Output(s, c.Function(std.Matmul, nil, v, y), c.Function(std.Matmul, nil, y, v), c.Function(std.Sum, std.ReduceAttrs{Dim: op.IntList(-1)}, v))
			in := []*array.Array{gen.Normal(size...), gen.Strided(gen.Normal(size...))}
			want := interpret(t, m, in...)
			for _, threads := range []int{1, 2} {
				got, err := compile(t, m, lowering.Options{Exact: true, Threads: threads}).Run(ctx, in)
				require.NoError(t, err)
				for i := range want {
					require.Empty(t, fxtest.SameArray(want[i], got[i]), "%s, %v, result %d", name, size, i)
				}
			}
		}
	}
}

// TestExactPlansPackWhereSumsAreAlike: a weight is packed where the step with it gives the
// interpreter's bits for all sizes of symbols, on every machine, and stays where it does not.
func TestExactPlansPackWhereSumsAreAlike(t *testing.T) {
	for name, c := range map[string]struct {
		symbols, x, w, call string
		packed              bool
		in                  []int
	}{
		"rows":            {"", "f32[13,300]", "f32[40,300]", "linear](%x, %w, %b)", true, []int{13, 300}},
		"few rows":        {"", "f32[12,300]", "f32[40,300]", "linear](%x, %w, %b)", false, []int{12, 300}},
		"few columns":     {"", "f32[40,300]", "f32[12,300]", "linear](%x, %w, %b)", false, []int{40, 300}},
		"any rows":        {"  symbol N = dim(%x, 0)\n", "f32[N,300]", "f32[40,300]", "linear](%x, %w, %b)", false, []int{60, 300}},
		"any batch":       {"  symbol N = dim(%x, 0)\n", "f32[N,20,300]", "f32[40,300]", "linear](%x, %w, %b)", true, []int{2, 20, 300}},
		"product":         {"  symbol N = dim(%x, 0)\n", "f32[N,20,300]", "f32[300,40]", "matmul](%x, %w)", true, []int{2, 20, 300}},
		"single rows":     {"", "f32[20,1,300]", "f32[300,40]", "matmul](%x, %w)", false, []int{20, 1, 300}},
		"vector":          {"", "f32[20,300]", "f32[300]", "matmul](%x, %w)", false, []int{20, 300}},
		"in 16 bits":      {"", "bf16[20,300]", "bf16[40,300]", "linear](%x, %w, %b)", true, []int{20, 300}},
		"in 64 bits":      {"", "f64[20,300]", "f64[40,300]", "linear](%x, %w, %b)", false, []int{20, 300}},
		"images":          {"  symbol N = dim(%x, 0)\n", "f32[N,32,14,14]", "f32[40,32,3,3]", "conv2d](%x, %w, %b) {padding=[1,1]}", true, []int{2, 32, 14, 14}},
		"of unknown size": {"  symbol H = dim(%x, 2)\n  symbol W = dim(%x, 3)\n", "f32[1,32,H,W]", "f32[40,32,3,3]", "conv2d](%x, %w, %b) {padding=[1,1]}", false, []int{1, 32, 20, 20}},
		"of one column":   {"  symbol W = dim(%x, 3)\n", "f32[1,32,14,W]", "f32[40,32,3,3]", "conv2d](%x, %w, %b) {padding=[1,1]}", true, []int{1, 32, 14, 3}},
		"small":           {"", "f32[1,32,3,4]", "f32[40,32,3,3]", "conv2d](%x, %w, %b) {padding=[1,1]}", false, []int{1, 32, 3, 4}},
		"groups":          {"", "f32[1,32,14,14]", "f32[24,16,3,3]", "conv2d](%x, %w, %b) {groups=2}", false, []int{1, 32, 14, 14}},
		"depthwise":       {"", "f32[1,32,14,14]", "f32[32,1,3,3]", "conv2d](%x, %w, %b) {groups=32}", false, []int{1, 32, 14, 14}},
	} {
		t.Run(name, func(t *testing.T) {
			typ, err := shape.ParseType(c.w)
			require.NoError(t, err)
			filters, _ := typ.Dims().At(0).Int()
			d := typ.DType()
			m := module(t, fmt.Sprintf("graph net(%%x: %s) {\n%s  %%w = get_attr[w] : %s\n  %%b = get_attr[b] : %s[%d]\n  %%y = call_function[%s\n  %%z = call_function[relu](%%y)\n  return %%z\n}\nparam w : %[3]s\nparam b : %[4]s[%[5]d]\n",
				c.x, c.symbols, c.w, d, filters, c.call))
			var gen op.Gen
			in := []*array.Array{array.Cast(gen.Normal(c.in...), d)}
			want := interpret(t, m, in...)
			for _, threads := range []int{1, 2} {
				e := compile(t, m, lowering.Options{Exact: true, Threads: threads})
				require.Equal(t, c.packed, slices.ContainsFunc(e.Plan().Buffers, func(b plan.Buffer) bool { return b.Pack != nil }))
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				require.Empty(t, fxtest.SameArrays(want, got))
			}
		})
	}
}
