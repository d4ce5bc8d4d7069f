package parity

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.7", splitRows) }

// split cuts a graph by the names of nodes.
func split(t *testing.T, m *graph.Module, parts map[string]string) []*graph.Node {
	t.Helper()
	calls, err := partition.Split(m, func(n *graph.Node) string { return parts[n.Name()] })
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	return calls
}

const threeParts = `graph g(%x: f32[2], %y: f32[2]) {
  %w = get_attr[w] : f32[2]
  %a = call_function[neg](%x) : f32[2] at "net.go:5"
  %b = call_function[mul](%a, %w) : f32[2]
  %c = call_function[exp](%b) : f32[2]
  %d = call_function[add](%c, %a) : f32[2]
  %dead = call_function[tanh](%d) : f32[2]
  %e = call_function[sub](%d, %y) : f32[2]
  return %e
}
param w : f32[2]
`

// threeModule is threeParts with a weight.
func threeModule(t *testing.T) *graph.Module {
	t.Helper()
	m := parse(t, threeParts)
	p := *m.Param("w")
	p.Value = random(2)
	m.SetParam(p)
	return m
}

var threeWays = map[string]string{"a": "first", "b": "first", "c": "second", "d": "second", "dead": "third", "e": "third"}

var splitRows = []row{
	{id: "118a", input: "a graph with a parameter and an unused call, cut in three", outcome: "three calls in the order of the parts, which compute what the graph did; lines and the unused call are there", on: in(partition.Split), test: func(t *testing.T) {
		m := threeModule(t)
		want := interpreted(t, m, 1)
		calls := split(t, m, threeWays)
		require.Len(t, calls, 3)
		require.Equal(t, map[string]int{"call": 3}, opcountsOf(m.Graph))
		for i, name := range []string{"first", "second", "third"} {
			require.Equal(t, name, calls[i].Callee().Name)
		}
		require.Equal(t, 5, calls[0].Callee().Find("a").Pos().Line)
		require.NotNil(t, calls[2].Callee().Find("dead"))
		near(t, want, interpreted(t, m, 1), 0)
	}},
	{id: "118b", input: "the values and parameters that a part needs", outcome: "its inputs: values in the order of their first use, then parameters; its results: what others use", on: in(graph.Outline), test: func(t *testing.T) {
		calls := split(t, threeModule(t), threeWays)
		require.Len(t, calls[0].Callee().Output().Args(), 2, "%%a and %%b are used outside")
		require.Equal(t, []string{"b", "a"}, inputNames(calls[1].Callee()))
		require.Equal(t, []string{"x", "w"}, inputNames(calls[0].Callee()))
	}},
	{id: "118c", input: "two parts that need each other", outcome: "FX3044 with the way from a part back to it; the graph is as it was", on: in(partition.Split), test: func(t *testing.T) {
		m := threeModule(t)
		text := m.String()
		_, err := partition.Split(m, func(n *graph.Node) string { return map[string]string{"a": "p", "c": "p", "b": "q"}[n.Name()] })
		require.ErrorContains(t, err, "FX3044")
		require.ErrorContains(t, err, "%b")
		require.Equal(t, text, m.String())
	}},
	{id: "118d", input: "100 random graphs cut in two at a random place, then put together again", outcome: "both compute what the graph did", on: in(partition.Split, variable{"passes/simplify.Inline", simplify.Inline}), test: func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			m := fxtest.RandomGraph(r)
			want, at, i := interpreted(t, m, 2), rapid.IntRange(0, m.Graph.Len()).Draw(r, "at"), 0
			calls, err := partition.Split(m, func(*graph.Node) string {
				if i++; i <= at {
					return "front"
				}
				return "back"
			})
			require.NoError(t, err)
			near(t, want, interpreted(t, m, 2), 0)
			apply2(t, m, simplify.Inline)
			require.NotEmpty(t, calls)
			require.Zero(t, opcountsOf(m.Graph)["call"])
			near(t, want, interpreted(t, m, 2), 0)
		})
	}},
	{id: "118e", input: "a chain of 10,000 calls in 200 parts", outcome: "200 calls, in one go", on: in(partition.Split), test: func(t *testing.T) {
		g := graph.New("long")
		n := g.At().Placeholder("x", pair, nil)
		for range 10_000 {
			n = g.At().Function(std.Neg, nil, n)
		}
		g.At().Output(nil, n)
		m, i := graph.NewModule(g), -1
		calls, err := partition.Split(m, func(*graph.Node) string { i++; return "part" + strconv.Itoa(i/50) })
		require.NoError(t, err)
		require.Len(t, calls, 200)
		require.Equal(t, 202, m.Graph.Len())
		require.Equal(t, 52, calls[199].Callee().Len())
	}},
	{id: "119", input: "regions of a graph without gradients, and of another precision, across a cut", none: "a graph has no modes: precision is in the types, and nothing records gradients"},
	{id: "120", input: "nodes tagged by a pass, one of them replaced by another pass, and the graph cut by the tags", outcome: "a sub-graph for each tag; what was made of a node has its tag; one result or several", on: in(partition.Split, partition.ByTag, partition.RerollMin), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[exp](%x)\n  %b = call_function[neg](%a)\n  %c = call_function[add](%a, %b)\n  return %c")
		for _, name := range []string{"a", "b"} {
			partition.Tag.Set(m.Graph.Find(name), "device")
		}
		apply2(t, m, passes.Rule(passes.Rewrite{Name: "swap", Doc: "d", Pattern: tensor.Neg, Replacement: func(x tt) tt { return x.Relu() }}))
		calls, err := partition.Split(m, partition.ByTag)
		require.NoError(t, err)
		require.Len(t, calls, 1)
		require.Equal(t, map[string]int{"exp": 1, "relu": 1}, opcounts(calls[0].Callee()))
		require.Equal(t, 2, calls[0].Callee().Output().NumArgs())
		layers := capture(t, func(x tt) tt {
			for range 4 {
				x = x.Exp().Neg().Tanh()
			}
			return x
		}, fx.Input("x", "f32[2]"))
		apply2(t, layers.Module, simplify.Functionalize, partition.RerollMin(3))
		require.Equal(t, 4, opcountsOf(layers.Graph)["call"], "%s", layers.Module)
		require.Len(t, layers.Subs(), 1)
	}},
}

// opcountsOf counts the calls of a graph itself.
func opcountsOf(g *graph.Graph) map[string]int {
	m := map[string]int{}
	for n := range g.Nodes() {
		if n.Op() != nil && n.Op().Name != "getitem" {
			m[n.Op().Name]++
		}
	}
	return m
}

func inputNames(g *graph.Graph) (list []string) {
	for _, n := range g.Inputs() {
		list = append(list, n.Name())
	}
	return list
}
