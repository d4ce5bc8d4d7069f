package lowering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

func parse(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	return m
}

const net = `
graph net(%x: f32[N,4], %y: f32[M,4]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %fc = call_module[fc](%x) : f32[N,4] in "fc" "nn.Linear" at "m.go:7" "Forward"
  %r = call_method[relu](%fc) : f32[N,4]
  %a = call_function[add](%r, %y) : f32[N,4]
  guard N == M from %a
  %fc_1 = call_module[fc](%a) : f32[N,4]
  %flat = call_function[reshape](%fc_1) {shape=[4*N]} : f32[4*N]
  %unused = call_function[exp](%a) : f32[N,4]
  return (%flat, %r)
}
param fc.weight : f32[4,4]
module fc = linear (weight=fc.weight, bias=_)
`

func TestPrepare(t *testing.T) {
	_, absent := lowering.Prepare(nil, lowering.Options{})
	require.ErrorIs(t, absent, graph.NoOutput)
	m := parse(t, net)
	before := m.String()
	p, err := lowering.Prepare(m, lowering.Options{})
	require.NoError(t, err)
	require.Equal(t, before, m.String(), "the module is not touched")
	require.Empty(t, graph.Lint(p.Graph))
	require.Empty(t, cmp.Diff(`gofx 1

graph net(%x: f32[N,4], %y: f32[N,4]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %fc_weight = get_attr[fc.weight] : f32[4,4] in "fc" "nn.Linear"
  %fc = call_function[linear](%x, %fc_weight) : f32[N,4] in "fc" "nn.Linear"
  %r = call_function[relu](%fc) : f32[N,4]
  %a = call_function[add](%r, %y) : f32[N,4]
  guard N == M from %a
  %fc_1 = call_function[linear](%a, %fc_weight) : f32[N,4] in "fc"
  %flat = call_function[reshape](%fc_1) {shape=[4*N]} : f32[4*N]
  return (%flat, %r)
}
`, p.Graph.String()))
	fc := p.Graph.Find("fc")
	require.Equal(t, lowering.Source{Node: "fc", Op: "linear"}, lowering.SourceOf(fc))
	require.Equal(t, "fc", fc.Scope().Path)
	require.Equal(t, 7, fc.Pos().Line)
}

func TestPreparePinsSymbols(t *testing.T) {
	p, err := lowering.Prepare(parse(t, net), lowering.Options{Shapes: map[string]int{"M": 3}, Outputs: []int{1, 1}})
	require.NoError(t, err)
	require.Equal(t, "f32[3,4]", p.Graph.Inputs()[0].Type().String(), "the guard says that N is M")
	out := p.Graph.Output()
	require.Equal(t, 2, out.NumArgs())
	require.Equal(t, "%r", out.Arg(1).String())
	require.Equal(t, "f32[3,4]", out.Arg(0).Type().String())
	require.Nil(t, p.Graph.Find("flat"))

	unranked := parse(t, `
graph g(%x: f32[B,4]) {
  symbol B = dim(%x, 0)
  %s = call_function[squeeze](%x) {dim=[0]} : f32[*]
  return %s
}
`)
	p, err = lowering.Prepare(unranked, lowering.Options{Shapes: map[string]int{"B": 1}})
	require.NoError(t, err)
	require.Equal(t, "f32[4]", p.Graph.Find("s").Type().String(), "types are inferred again")
}

func TestOptionsThatDoNotFit(t *testing.T) {
	_, err := lowering.Prepare(parse(t, net), lowering.Options{Shapes: map[string]int{"Q": 1, "N": -1}, Outputs: []int{2, -1}, Donate: []int{5}, Threads: -1})
	var l diag.List
	require.ErrorAs(t, err, &l)
	require.Len(t, l, 6)
	for _, e := range l {
		require.Equal(t, lowering.BadOption, e.Code)
	}
	require.ErrorContains(t, err, "symbols of the graph: N, M")
	_, err = lowering.Prepare(parse(t, net), lowering.Options{Shapes: map[string]int{"N": 2, "M": 3}})
	require.ErrorIs(t, err, lowering.BadOption, "the guard does not allow it")

	_, err = lowering.Prepare(parse(t, "graph g(%x: f32[2]) {\n return %x\n}\n"), lowering.Options{Shapes: map[string]int{"N": 2}})
	require.ErrorContains(t, err, "all sizes of the graph are numbers: leave the setting out")

	g := graph.New("empty")
	_, err = lowering.Prepare(graph.NewModule(g), lowering.Options{})
	require.ErrorIs(t, err, graph.NoOutput)
	m := parse(t, "graph g(%x: f32[2]) {\n %y = call_module[gone](%x)\n return %y\n}\n")
	_, err = lowering.Prepare(m, lowering.Options{})
	require.ErrorIs(t, err, graph.MissingModule)
}

func TestOptionsKey(t *testing.T) {
	keys := map[string]bool{}
	for _, o := range []lowering.Options{
		{}, {Shapes: map[string]int{"N": 1}}, {Shapes: map[string]int{"N": 1, "M": 1}}, {Outputs: []int{}}, {Outputs: []int{0, 1}}, {Outputs: []int{1, 0}}, {Exact: true}, {Weights: array.BF16}, {Products: array.BF16},
		{Donate: []int{1}}, {Threads: 1}, {Into: []lowering.Into{{Result: 1}}}, {Into: []lowering.Into{{Input: 1}}}, {Into: []lowering.Into{{Input: 1}, {Result: 1}}},
		{Measure: lowering.Measure{On: true}}, {Measure: lowering.Measure{On: true, Stored: true}}, {Measure: lowering.Measure{On: true, Budget: 1}}, {Measure: lowering.Measure{On: true, Folder: "-"}},
	} {
		require.False(t, keys[o.Key()], o.Key())
		keys[o.Key()] = true
	}
	require.Equal(t, lowering.Options{}.Key(), lowering.Options{Measure: lowering.Measure{Folder: "x"}}.Key(), "which is off")
	_, err := lowering.Prepare(parse(t, "graph g(%x: f32[2]) {\n return %x\n}\n"), lowering.Options{Measure: lowering.Measure{On: true, Budget: -1}})
	require.ErrorContains(t, err, "the budget for measuring is -1ns, expected a time that is not negative")
	require.Equal(t, lowering.Options{Donate: []int{1, 0, 1}}.Key(), lowering.Options{Donate: []int{0, 1}}.Key())
	require.Equal(t, lowering.Options{Into: []lowering.Into{{Result: 1}, {Input: 1}}}.Key(), lowering.Options{Into: []lowering.Into{{Input: 1}, {Result: 1}}}.Key())
}

// TestPairsThatDoNotFit names results and inputs that are not there, or twice, and asks a target that
// makes no results in inputs.
func TestPairsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		o    lowering.Options
		want string
	}{
		{lowering.Options{Into: []lowering.Into{{Result: 2}}}, "result 2 is to be made in input 0, there are 2 results"},
		{lowering.Options{Into: []lowering.Into{{Result: -1}}}, "result -1"},
		{lowering.Options{Into: []lowering.Into{{Input: 9}}}, "result 0 is to be made in input 9"},
		{lowering.Options{Into: []lowering.Into{{Result: 1}}, Outputs: []int{1}}, "there are 1 results"},
		{lowering.Options{Into: []lowering.Into{{}, {Result: 1}}}, "one of them is named before"},
		{lowering.Options{Into: []lowering.Into{{}, {}}}, "one of them is named before"},
	} {
		_, err := lowering.Prepare(example(), c.o)
		require.ErrorIs(t, err, lowering.BadOption)
		require.ErrorContains(t, err, c.want)
	}
	_, err := lowering.Split{First: cpu.Target{}, Rest: cpu.Target{}}.Compile(example(), lowering.Options{Into: []lowering.Into{{}}})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "target split makes no results in the memory of inputs")
}

// endless is made of itself, which its variable cannot say.
var endless *op.Op

func init() {
	endless = op.Define("endless", op.Spec[op.None]{Doc: "endless is itself.", In: op.Args("x"),
		Infer:     func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value { return b.Call(endless, op.None{}, in[0]) }})
}

func TestLegalize(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[2,3], %y: f32[2,3]) {
  %s = call_function[stack](%x, %y) {dim=1} : f32[2,2,3] in "a" "A" at "m.go:3" "f"
  %n = call_function[neg](%s) : f32[2,2,3]
  return %n
}
`)
	name := func(banned ...string) func(n *graph.Node) (bool, string) {
		return func(n *graph.Node) (bool, string) {
			for _, b := range banned {
				if n.Op().Name == b {
					return false, "banned"
				}
			}
			return true, ""
		}
	}
	require.NoError(t, lowering.Legalize(m.Graph, "test", name("stack")))
	require.Empty(t, graph.Lint(m.Graph))
	require.Nil(t, m.Graph.Find("s"))
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() && n.Op().Name != "neg" {
			require.Equal(t, lowering.Source{Node: "s", Op: "stack"}, lowering.SourceOf(n), "%s", n)
			require.Equal(t, 3, n.Pos().Line)
		}
	}
	err := lowering.Legalize(m.Graph, "test", name("cat", "neg"))
	var l diag.List
	require.ErrorAs(t, err, &l)
	require.Len(t, l, 2, "all at once")
	require.ErrorIs(t, err, lowering.Unsupported)
	require.ErrorContains(t, err, "m.go:3: stack: target test cannot run stack: it is made of cat; banned")

	u := parse(t, "graph g(%x: f32[*]) {\n %s = call_function[stack](%x, %x)\n return %s\n}\n")
	require.ErrorIs(t, lowering.Legalize(u.Graph, "test", name("stack")), lowering.UnknownSize)

	g := graph.New("e")
	c := g.At()
	c.Output(nil, c.Function(endless, nil, c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)))
	require.ErrorContains(t, lowering.Legalize(g, "test", name("endless")), "does not end")
}

// A table expands what is primitive, and its reason stands in the error.
func TestLegalizeByTable(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[2,3]) {
  %s = call_function[softmax](%x) {dim=1} : f32[2,3] in "a" "A" at "m.go:3" "f"
  %c = call_function[cumsum](%s) {dim=1} : f32[2,3] at "m.go:4" "f"
  return %c
}
`)
	direct := func(n *graph.Node) (bool, string) { return n.Op().Scalar(), "no rule" }
	table := simplify.Expansions{
		m.Graph.Find("s").Op(): func(b op.Builder, _ any, in []op.Value) ([]op.Value, string) {
			return []op.Value{b.Call(op.Lookup("exp"), op.None{}, in[0])}, ""
		},
		m.Graph.Find("c").Op(): func(op.Builder, any, []op.Value) ([]op.Value, string) { return nil, "too long" },
	}
	err := lowering.Legalize(m.Graph, "test", direct, table)
	require.ErrorIs(t, err, lowering.Unsupported)
	require.ErrorContains(t, err, "m.go:4: cumsum: target test cannot run cumsum: no rule; it is not expanded: too long")
	require.NotContains(t, err.Error(), "softmax")
	exp := m.Graph.Find("c").Arg(0)
	require.Equal(t, lowering.Source{Node: "s", Op: "softmax"}, lowering.SourceOf(exp))
	require.Equal(t, 3, exp.Pos().Line)
}

// partial is a target that runs few operators.
type partial struct{ lowering.Target }

func (partial) Name() string { return "partial" }

func (partial) Supports(n *graph.Node) (bool, string) {
	return n.Op().Name == "linear", "only linear is built in"
}

func TestQueryListsEverythingAtOnce(t *testing.T) {
	l := lowering.Query(partial{}, parse(t, net).Graph)
	var names []string
	for _, e := range l {
		require.Equal(t, lowering.Unsupported, e.Code)
		require.Contains(t, e.Msg, "target partial cannot run")
		require.Contains(t, e.Msg, "only linear is built in")
		names = append(names, e.Node)
	}
	require.ElementsMatch(t, []string{"r", "a", "flat", "unused"}, names)
}
