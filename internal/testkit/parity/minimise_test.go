package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
)

func init() { area("2.7", minimiseRows) }

// wrongAt is a pass that makes each neg again, as abs where at says so for the number
// of earlier rewrites.
func wrongAt(at func(i int) bool) passes.Pass {
	return passes.EachNode("swap", "Makes neg anew, or abs.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Neg {
			return nil
		}
		o := std.Neg
		if at(c.Matches()) {
			o = std.Abs
		}
		return c.Replace(n, n.Graph().Before(n).Function(o, nil, n.Arg(0)), "a test")
	})
}

var minimiseRows = []row{
	{id: "124a", input: "a pipeline that is right; one whose first, middle, last, and all rewrites are wrong", outcome: "nothing to find; the first wrong rewrite, as trying one after the other finds it, in the logarithm of their number", on: in(debug.Bisect), test: func(t *testing.T) {
		const n = 16
		bisect := func(at func(i int) bool) (*debug.Culprit, error) {
			return debug.Bisect(context.Background(), negations(t, n), []passes.Pass{wrongAt(at)}, passes.Options{}, nil)
		}
		_, err := bisect(func(int) bool { return false })
		require.ErrorIs(t, err, debug.NothingFails)
		for want, at := range map[int]func(i int) bool{
			1:  func(i int) bool { return true },
			8:  func(i int) bool { return i >= 7 && i < 10 },
			16: func(i int) bool { return i == 15 },
		} {
			c, err := bisect(at)
			require.NoError(t, err)
			require.Equal(t, "swap", c.Pass)
			require.Equal(t, want, c.Match)
			require.LessOrEqual(t, c.Runs, 10)
			m := negations(t, n)
			sequential := 1
			for ; ; sequential++ {
				try := graph.Clone(m)
				_, err := passes.Run(context.Background(), try, []passes.Pass{wrongAt(at)}, passes.Options{Numeric: &passes.Numeric{}, StopAt: passes.StopAt{Pass: "swap", Match: sequential}})
				if err != nil {
					break
				}
			}
			require.Equal(t, sequential, c.Match)
		}
	}},
	{id: "124b", input: "a failing case of 20 calls, cut down; one that does not fail", outcome: "the two calls at most that are needed, which fail in the same way; refused", on: in(debug.Minimise, debug.Fails), test: func(t *testing.T) {
		m := negations(t, 20)
		in, err := passes.Inputs(m.Graph, nil, 1)
		require.NoError(t, err)
		fails := debug.Fails([]passes.Pass{wrongAt(func(int) bool { return true })}, passes.Options{}, nil)
		small, err := debug.Minimise(context.Background(), debug.Case{Module: m, Inputs: in}, fails)
		require.NoError(t, err)
		require.ErrorIs(t, small.Err, passes.NumericChange)
		calls := 0
		for n := range small.Module.Graph.Nodes() {
			if n.Opcode().IsCall() {
				calls++
			}
		}
		require.LessOrEqual(t, calls, 2, "%s", small.Module)
		require.ErrorIs(t, fails(context.Background(), small.Case), passes.NumericChange)
		_, err = debug.Minimise(context.Background(), debug.Case{Module: m, Inputs: in}, debug.Fails(nil, passes.Options{}, nil))
		require.ErrorIs(t, err, debug.NothingFails)
	}},
	{id: "124c", input: "two forms of a graph, one with another operator in the middle", outcome: "the value of that operator is the first that differs, by how much and at which line", on: in(debug.Compare), test: func(t *testing.T) {
		a := parse(t, "graph net(%x: f32[2]) {\n  %a = call_function[neg](%x) : f32[2] at \"net.go:5\"\n  %b = call_function[exp](%a) : f32[2] at \"net.go:6\"\n  %c = call_function[add](%b, %a) : f32[2]\n  return %c\n}\n")
		b := graph.Clone(a)
		require.NoError(t, graph.Edit(b, func(g *graph.Graph) error {
			old := g.Find("b")
			old.ReplaceUses(g.Before(old).Function(std.Tanh, nil, old.Arg(0)), nil)
			if err := g.Erase(old); err != nil {
				return err
			}
			g.Find("tanh").Rename("b")
			return nil
		}))
		in := []*array.Array{array.FromSlice([]float32{1, 2})}
		c, err := debug.Compare(context.Background(), a, b, in, debug.CompareOptions{})
		require.NoError(t, err)
		first := c.First()
		require.NotNil(t, first, "%s", c)
		require.Equal(t, "b", first.Node, "%s", c)
		require.Equal(t, 6, first.Pos.Line)
		require.Positive(t, first.Largest)
		c, err = debug.Compare(context.Background(), a, graph.Clone(a), in, debug.CompareOptions{})
		require.NoError(t, err)
		require.Nil(t, c.First())
	}},
}
