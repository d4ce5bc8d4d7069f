package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/shape"
)

func read(t *testing.T, text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "t.fx")
	require.NoError(t, err)
	return m
}

// Sizes that are found inside, symbols of nodes outside and of the interface.
func TestOutlineFindsSizes(t *testing.T) {
	const text = `graph g(%x: f32[N], %y: f32[M,2]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %nz = call_function[github.com/gofx-dev/gofx/graph.nonzero](%x) : i64[K,1] in "a.b"
  symbol K = dim(%nz, 0)
  %f = call_function[cast](%nz) {dtype=f32} : f32[K,1] in "a.c"
  %z = call_function[zeros]() {size=[M,K]} : f32[M,K]
  %s = call_function[neg](%f) : f32[K,1]
  return (%s, %z)
}
`
	for _, names := range [][]string{{"nz"}, {"nz", "f"}, {"nz", "f", "s"}, {"z"}, {"f", "z"}, {"nz", "z"}, {"nz", "f", "z", "s"}} {
		m := read(t, text)
		var set []*graph.Node
		for _, n := range names {
			set = append(set, m.Graph.Find(n))
		}
		call, err := graph.Outline("part", set)
		require.NoError(t, err, "%v", names)
		require.NoError(t, graph.Lint(m.Graph).Err(), "%v\n%s", names, m)
		_, err = graph.Parse([]byte(m.String()), "again.fx")
		require.NoError(t, err, "%s", m)
		_, err = graph.Inline(call)
		require.NoError(t, err)
		equal, diff := graph.Equal(m.Graph, read(t, text).Graph)
		require.True(t, equal, "%v: %s\n%s", names, diff, m)
		for n := range m.Graph.Nodes() {
			if n.Op() != nil && (n.Op().Name == "nonzero" || n.Op().Name == "cast") {
				require.Contains(t, []string{"a.b", "a.c"}, n.Scope().Path, "scopes are put together again")
			}
		}
	}
}

// State may be written inside of a sub-graph, in the order that it was.
func TestOutlineState(t *testing.T) {
	const text = `graph g(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %a = call_function[add](%w, %x) : f32[2]
  %set = call_function[assign](%w, %a) : f32[2]
  %v = get_attr[w] : f32[2]
  %b = call_function[mul](%v, %x) : f32[2]
  return %b
}
param w : f32[2] buffer
`
	with := func() *graph.Module {
		m := read(t, text)
		m.SetParam(graph.Param{Path: "w", Buffer: true, Value: array.FromSlice([]float32{1, 2}, 2)})
		return m
	}
	in := []*array.Array{array.FromSlice([]float32{3, 5}, 2)}
	m := with()
	g := m.Graph
	_, err := graph.Outline("step", []*graph.Node{g.Find("w"), g.Find("a"), g.Find("set")})
	require.NoError(t, err)
	fxtest.Same(t, "state", interpret(t, with(), in), interpret(t, m, in))
	m = with()
	_, err = graph.Outline("torn", []*graph.Node{m.Graph.Find("set")})
	require.ErrorIs(t, err, graph.BadOutline, "the call would write a value, not state")
}

func TestCallsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code diag.Code
	}{
		"missing":    {`graph g(%x: f32[2]) {` + "\n" + `%y = call_function[call](%x) {graph="none"} : f32[2]` + "\nreturn %y\n}\n", graph.BadCall},
		"other type": {"graph g(%x: i64[2]) {\n%y = call_function[call](%x) {graph=\"s\"}\nreturn %y\n}\nsubgraph s(%x: f32[A]) {\nreturn %x\n}\n", graph.BadCall},
		"two sizes":  {"graph g(%x: f32[2], %y: f32[3]) {\n%z = call_function[call](%x, %y) {graph=\"s\"}\nreturn %z\n}\nsubgraph s(%x: f32[A], %y: f32[A]) {\nreturn %x\n}\n", graph.BadCall},
		"guard":      {"graph g(%x: f32[3]) {\n%z = call_function[call](%x) {graph=\"s\"}\nreturn %z\n}\nsubgraph s(%x: f32[A]) {\nguard A % 2 == 0\nreturn %x\n}\n", graph.BadCall},
		"mutual":     {"graph g(%x: f32[2]) {\n%y = call_function[call](%x) {graph=\"a\"} : f32[2]\nreturn %y\n}\nsubgraph a(%x: f32[2]) {\n%y = call_function[call](%x) {graph=\"b\"} : f32[2]\nreturn %y\n}\nsubgraph b(%x: f32[2]) {\n%y = call_function[call](%x) {graph=\"a\"} : f32[2]\nreturn %y\n}\n", graph.Recursive},
		"twice":      {"graph g(%x: f32[2]) {\nreturn %x\n}\nsubgraph s(%x: f32[2]) {\nreturn %x\n}\nsubgraph s(%x: f32[2]) {\nreturn %x\n}\n", graph.Redefined},
	} {
		m, err := graph.Parse([]byte("gofx 1\n"+c.text), "t.fx")
		if err == nil {
			err = graph.Lint(m.Graph).Err()
		}
		require.ErrorIs(t, err, c.code, name)
	}
}

// A call has the effects of its sub-graph, and reads what that reads.
func TestOrderOfCallsWithState(t *testing.T) {
	const text = `graph g(%x: f32[2]) {
  %first = call_function[call]() {graph="look"} : f32[2]
  %set = call_function[call](%x) {graph="step"} : f32[2]
  %free = call_function[call](%x) {graph="plain"} : f32[2]
  %last = call_function[call]() {graph="look"} : f32[2]
  return (%first, %set, %free, %last)
}
subgraph step(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %set = call_function[assign](%w, %x) : f32[2]
  return %set
}
subgraph look() {
  %w = get_attr[w] : f32[2]
  %y = call_function[neg](%w) : f32[2]
  return %y
}
subgraph plain(%x: f32[2]) {
  %y = call_function[neg](%x) : f32[2]
  return %y
}
param w : f32[2] buffer
`
	m := read(t, text)
	g := m.Graph
	first, set, free, last := g.Find("first"), g.Find("set"), g.Find("free"), g.Find("last")
	require.ErrorIs(t, first.Prepend(set), graph.BrokenOrder)
	require.ErrorIs(t, last.Append(set), graph.BrokenOrder)
	require.ErrorIs(t, set.Prepend(last), graph.BrokenOrder)
	require.NoError(t, first.Prepend(free), "it reads no state")
	require.NoError(t, last.Append(free))
	_, err := graph.Outline("around", []*graph.Node{first, last})
	require.ErrorIs(t, err, graph.BadOutline, "the write lies between the reads")
	moved, err := g.Sort()
	require.NoError(t, err)
	require.Zero(t, moved)
}

// What an edit does to sub-graphs is taken back with the rest.
func TestEditTakesBackSubGraphs(t *testing.T) {
	m := read(t, `graph g(%x: f32[2]) {
  %y = call_function[call](%x) {graph="s"} : f32[2]
  %z = call_function[neg](%y) : f32[2]
  return %z
}
subgraph s(%x: f32[2]) {
  %y = call_function[neg](%x) : f32[2]
  return %y
}
`)
	text, sub := m.String(), m.Sub("s")
	for name, edit := range map[string]func(g *graph.Graph) error{
		"erased":   func(*graph.Graph) error { return sub.Erase(sub.Output()) },
		"outlined": func(g *graph.Graph) error { _, _ = graph.Outline("t", []*graph.Node{g.Find("z")}); panic("no") },
		"inlined": func(g *graph.Graph) error {
			_, err := graph.Inline(g.Find("y"))
			require.NoError(t, err)
			m.DropSubs()
			return g.Erase(g.Output())
		},
		"other type": func(*graph.Graph) error {
			sub.Inputs()[0].SetType(shape.TensorType(array.I64, shape.ConstDims(3)))
			return nil
		},
	} {
		require.Error(t, graph.Edit(m, edit), name)
		require.Equal(t, text, m.String(), name)
		require.True(t, m.Sub("s") == sub, name)
		require.NoError(t, graph.Lint(m.Graph).Err(), name)
	}
}

// A graph that is copied into another module brings its sub-graphs along, under other
// names where that module has others of these, and with its own state.
func TestInlineBringsSubGraphs(t *testing.T) {
	text := func(name, o string) string {
		return "graph " + name + `(%x: f32[2]) {
  %y = call_function[call](%x) {graph="s"} : f32[2]
  %z = call_function[call](%y) {graph="t"} : f32[2]
  return %z
}
subgraph s(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %y = call_function[` + o + `](%x, %w) : f32[2]
  return %y
}
subgraph t(%x: f32[2]) {
  %y = call_function[neg](%x) : f32[2]
  return %y
}
param w : f32[2]
`
	}
	with := func(name, o string, w ...float32) *graph.Module {
		m := read(t, text(name, o))
		m.SetParam(graph.Param{Path: "w", Value: array.FromSlice(w, 2)})
		return m
	}
	in := []*array.Array{array.FromSlice([]float32{3, 5}, 2)}
	for _, o := range []string{"add", "mul"} {
		m, other := with("g", "add", 1, 2), with("other", o, 10, 20)
		want := interpret(t, other, interpret(t, m, in))
		for range 2 {
			out := m.Graph.Output()
			out.SetArg(0, m.Graph.Before(out).Inline(other.Graph, out.Args())[0])
			require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
			fxtest.Same(t, o, want, interpret(t, m, in))
			want = interpret(t, other, want)
		}
		require.Len(t, m.Subs(), 3, "t is the same, s of the other graph is there once\n%s", m)
	}
}

// What a call writes counts for what is extracted.
func TestExtractWithSubGraphs(t *testing.T) {
	m := read(t, `graph g(%x: f32[2]) {
  %set = call_function[call](%x) {graph="step"} : f32[2]
  %y = call_function[call](%x) {graph="look"} : f32[2]
  %z = call_function[call](%x) {graph="plain"} : f32[2]
  return (%y, %z)
}
subgraph step(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %set = call_function[assign](%w, %x) : f32[2]
  return %set
}
subgraph look(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %y = call_function[add](%w, %x) : f32[2]
  return %y
}
subgraph plain(%x: f32[2]) {
  %y = call_function[neg](%x) : f32[2]
  return %y
}
param w : f32[2] buffer
`)
	_, err := graph.Extract(nil, []*graph.Node{m.Graph.Find("y")})
	require.ErrorIs(t, err, graph.BadExtract)
	part, err := graph.Extract(nil, []*graph.Node{m.Graph.Find("z")})
	require.NoError(t, err)
	require.Len(t, part.Subs(), 1)
	require.Equal(t, "plain", part.Subs()[0].Name)
	both, err := graph.Extract(nil, []*graph.Node{m.Graph.Find("y"), m.Graph.Find("set")})
	require.NoError(t, err)
	require.Len(t, both.Subs(), 2)
}

// Blank lines and comments between graphs mean nothing.
func TestSubGraphsMayStandApart(t *testing.T) {
	const text = "graph g(%x: f32[2]) {\n%y = call_function[call](%x) {graph=\"s\"} : f32[2]\nreturn %y\n}\n%ssubgraph s(%x: f32[2]) {\nreturn %x\n}\n"
	want := read(t, strings.Replace(text, "%ssub", "sub", 1))
	for _, between := range []string{"\n", "\n\n", "// what follows\n", "\n// what follows\n\n"} {
		got := read(t, strings.Replace(text, "%ssub", between+"sub", 1))
		require.NoError(t, graph.Lint(got.Graph).Err())
		equal, diff := graph.EqualModules(want, got)
		require.True(t, equal, diff)
	}
}

// What a call gives may be state: reads of it stay on their side of a write.
func TestReadsOfResultsOfCallsAreOrdered(t *testing.T) {
	m := parse(`
graph g(%x: f32[2]) {
  %r = call_function[call](%x) {graph="f"} : f32[2]
  %early = call_function[exp](%r) : f32[2]
  %b = get_attr[b] : f32[2]
  %w = call_function[assign](%b, %x) : f32[2]
  %late = call_function[exp](%r) : f32[2]
  return (%early, %late)
}
subgraph f(%x: f32[2]) {
  %b = get_attr[b] : f32[2]
  return %b
}
param b : f32[2] buffer
`)
	g := m.Graph
	_, err := graph.Outline("both", []*graph.Node{g.Find("early"), g.Find("late")})
	require.ErrorIs(t, err, graph.BadOutline)
	require.ErrorContains(t, err, "has an effect, or reads what an effect writes")
	require.Error(t, g.Find("early").Append(g.Find("late")))
	require.Error(t, g.Find("w").Append(g.Find("early")))
}
