package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
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
