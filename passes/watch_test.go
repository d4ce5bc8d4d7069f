package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// breaks sets a wrong type at the second of its rewrites, and goes on.
func breaks(whole bool) passes.Pass {
	p := passes.EachNode("breaks", "Breaks the graph.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() == std.Neg || n.Op() == std.Exp {
			if c.Matches() == 1 {
				n.SetType(shape.Unranked(n.Type().DType()).WithDims(shape.ConstDims(7)))
			}
			c.Rewrote(n, nil, "an example")
		}
		return nil
	})
	p.Whole = whole
	return p
}

// TestLintEach names the rewrite that breaks the graph, in sub-graphs and regions too.
func TestLintEach(t *testing.T) {
	_, err := run(chain(), passes.Options{}, breaks(false))
	require.ErrorContains(t, err, "invalid graph after the pass")
	_, err = run(chain(), passes.Options{LintEach: true}, breaks(false))
	require.ErrorContains(t, err, "invalid graph after rewrite 2, %b changed: an example")
	require.ErrorContains(t, err, "while running pass breaks")
	require.ErrorContains(t, err, string(passes.LintFailed))
	_, err = run(chain(), passes.Options{LintEach: true}, breaks(true))
	require.ErrorContains(t, err, "after the pass", "rewrites that belong together")
	m := chain()
	_, err = run(m, passes.Options{LintEach: true}, noDoubleNeg, simplify.DCE)
	require.NoError(t, err)
	require.Equal(t, 3, m.Graph.Len())
}

// TestLintEach_followsTheGraph holds for a pass that replaces the module's graph.
func TestLintEach_followsTheGraph(t *testing.T) {
	swaps := passes.Pass{Name: "swaps", Doc: "Copies the graph.", Module: true, Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		c.Rewrote(g.First(), nil, "the old graph")
		c.Module.Become(c.Module.WithGraph(g.Clone()))
		n := c.Module.Graph.Find("a")
		n.SetType(shape.Unranked(n.Type().DType()).WithDims(shape.ConstDims(7)))
		c.Rewrote(n, nil, "the new one")
		return true, nil
	}}
	_, err := run(chain(), passes.Options{LintEach: true}, swaps)
	require.ErrorContains(t, err, "after rewrite 2, %a changed: the new one")
}

// TestGives follows values through rewrites.
func TestGives(t *testing.T) {
	m := chain()
	toNeg := passes.EachNode("negate", "Replaces exp by two calls.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Exp {
			return nil
		}
		at := n.Graph().Before(n)
		return c.Replace(n, at.Function(std.Abs, nil, at.Function(std.Sin, nil, n.Arg(0))), "an example")
	})
	back := passes.EachNode("back", "Replaces abs by relu.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Abs {
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(std.Relu, nil, n.Arg(0)), "an example")
	})
	for n := range m.Graph.Nodes() {
		require.Equal(t, n.Name(), passes.CapturedName(n))
	}
	_, err := run(m, passes.Options{}, toNeg, back)
	require.NoError(t, err)
	names := map[string]string{}
	for n := range m.Graph.Nodes() {
		names[n.Name()] = passes.CapturedName(n)
	}
	require.Equal(t, map[string]string{"x": "x", "a": "a", "b": "b", "unused": "unused", "sin": "", "relu": "c", "output": "output"}, names)
}
