package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// rolled has two pairs of negations in the graph, and two in each of the sub-graphs, one
// of which calls the other.
const rolled = `
graph g(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[call](%b) {graph="outer"} : f32[4]
  %d = call_function[neg](%c) : f32[4]
  %e = call_function[neg](%d) : f32[4]
  return %e
}
subgraph outer(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[call](%b) {graph="inner"} : f32[4]
  %d = call_function[neg](%c) : f32[4]
  %e = call_function[neg](%d) : f32[4]
  return %e
}
subgraph inner(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[relu](%b) : f32[4]
  %d = call_function[neg](%c) : f32[4]
  %e = call_function[neg](%d) : f32[4]
  return %e
}
`

// Rules walk over sub-graphs as they do over the graph, alone and applied together.
func TestRulesInSubGraphs(t *testing.T) {
	var looked counter
	for name, p := range map[string]passes.Pass{
		"rule":     passes.Rule(doubleNeg),
		"rules":    passes.Rules("double-neg", "d", 5, passes.Rule(doubleNeg), relus("relus", &looked)),
		"fixpoint": passes.Fixpoint(passes.Rule(doubleNeg), 5),
		"concat":   passes.Concat("double-neg", "d", passes.Rule(doubleNeg), simplify.DCE),
		"nested":   passes.Concat("double-neg", "d", passes.Rules("in", "d", 5, passes.Rule(doubleNeg), simplify.DCE), simplify.CSE),
	} {
		m := passtest.Parse(t, rolled)
		before := graph.Clone(m)
		r, err := run(m, passes.Options{}, p)
		require.NoError(t, err, name)
		require.Equal(t, 6, r.Matches("double-neg"), name)
		for n := range m.All() {
			require.False(t, n.Op() == std.Neg, "%s: %s in %s", name, n, n.Graph().Name)
		}
		passtest.Same(t, before, m)
	}
	require.Equal(t, counter(2), looked, "one look in each of two rounds")
}

// Rewrites are counted through all graphs, and end the pass in a sub-graph as well.
func TestStopAt_inASubGraph(t *testing.T) {
	for match := range 8 {
		m := passtest.Parse(t, rolled)
		before := graph.Clone(m)
		r, err := run(m, passes.Options{StopAt: passes.StopAt{Pass: "double-neg", Match: match}}, passes.Rule(doubleNeg))
		require.NoError(t, err)
		require.Equal(t, min(match, 6), r.Matches("double-neg"))
		negs := 0
		for n := range m.All() {
			if n.Op() == std.Neg {
				negs++
			}
		}
		require.Equal(t, 12-2*min(match, 6), negs)
		passtest.Same(t, before, m)
	}
	for match := range 3 {
		m := passtest.Parse(t, rolled)
		before := graph.Clone(m)
		_, err := run(m, passes.Options{StopAt: passes.StopAt{Pass: "inline", Match: match}}, simplify.Inline)
		require.NoError(t, err)
		passtest.Same(t, before, m)
	}
}

// What is made in a sub-graph has an origin, what was there has none, and what is copied
// from a sub-graph says who made it.
func TestOrigins_inSubGraphs(t *testing.T) {
	m := passtest.Parse(t, rolled)
	abs := passes.Rule(passes.Rewrite{Name: "abs", Doc: "d", Pattern: func(x tt) tt { return x.Relu() }, Replacement: func(x tt) tt { return x.Abs() }})
	_, err := run(m, passes.Options{}, abs)
	require.NoError(t, err)
	for n := range m.All() {
		o, made := passes.Made.Get(n)
		require.Equal(t, n.Op() == std.Abs, made, "%s in %s", n, n.Graph().Name)
		if made {
			require.Equal(t, "rewrite 1 of pass abs, rule abs, from %c", o.String())
		}
	}
	_, err = run(m, passes.Options{}, simplify.Inline)
	require.NoError(t, err)
	for n := range m.Graph.Nodes() {
		if o, _ := passes.Made.Get(n); n.Op() == std.Abs {
			require.Equal(t, "inline", o.Pass)
			require.Equal(t, 2, o.Match, "first inner into outer, then outer into the graph")
		}
	}
}
