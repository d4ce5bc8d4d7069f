package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// sound is a graph with one of everything, which Lint accepts.
const sound = `graph net(%p: bool[], %x: f32[N,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_module[fc](%x) : f32[N,4]
  %b = call_function[@linear](%a, %w, _) : f32[N,4]
  %c = call_function[cond](%p, %b) : f32[N,4] {
    region(%i: f32[N,4]) {
      %neg = call_function[@neg](%i) : f32[N,4]
      return %neg
    }
    region(%i: f32[N,4]) {
      return %i
    }
  }
  %s = call_function[@split](%c) {sizes=[1,N-1]} : (f32[1,4], f32[N-1,4])
  %d = call_function[getitem](%s) : f32[1,4]
  %nz = call_function[@nonzero](%d) : i64[K,2]
  symbol K = dim(%nz, 0)
  %e = call_method[@add](%d, %d) : f32[1,4]
  return (%e, [%nz])
}
param w : f32[4,4]
module fc = @linear (weight=w, bias=_)
`

// seeds break the sound graph; each must be found by the name of a node.
var seeds = map[string]struct {
	code diag.Code
	node string
	do   func(t *testing.T, m *Module, n func(name string) *Node)
}{
	"slot changed":    {BrokenUses, "x", func(_ *testing.T, _ *Module, n func(string) *Node) { n("e").args[0].def = n("x") }},
	"use list cut":    {BrokenUses, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").uses = nil }},
	"use count wrong": {BrokenUses, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").nuses++ }},
	"slot of another": {BrokenUses, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").args[0].user = n("e") }},
	"moved behind user": {BrokenOrder, "b", func(_ *testing.T, m *Module, n func(string) *Node) {
		a := n("a")
		m.Graph.unlink(a)
		m.Graph.insert(a, n("c"))
	}},
	"uses itself":     {BrokenOrder, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").SetArg(0, n("b")) }},
	"uses the output": {BrokenOrder, "b", func(_ *testing.T, m *Module, n func(string) *Node) { n("b").SetArg(0, m.Graph.Output()) }},
	"erased operand": {ForeignNode, "b", func(_ *testing.T, m *Module, n func(string) *Node) {
		a := n("a")
		m.Graph.unlink(a)
		a.erased = true
		m.Graph.count--
	}},
	"erased and listed": {ForeignNode, "a", func(_ *testing.T, _ *Module, n func(string) *Node) { n("a").erased = true }},
	"node of a clone":   {ForeignNode, "b", func(_ *testing.T, m *Module, n func(string) *Node) { n("b").SetArg(0, m.Graph.Clone().Find("a")) }},
	"region captures": {ForeignNode, "neg", func(_ *testing.T, _ *Module, n func(string) *Node) {
		e := &n("c").Regions()[0].Find("neg").args[0]
		e.unlink()
		e.link(n("b"))
	}},
	"owner changed": {ForeignNode, "e", func(_ *testing.T, _ *Module, n func(string) *Node) { n("e").g = New("") }},
	"late placeholder": {LatePlaceholder, "late", func(_ *testing.T, m *Module, n func(string) *Node) {
		m.Graph.Before(n("b")).Placeholder("late", shape.Type{}, nil)
	}},
	"second output":     {OutputPlace, "output_1", func(_ *testing.T, m *Module, n func(string) *Node) { m.Graph.At().Output(nil, n("e")) }},
	"behind the output": {OutputPlace, "neg", func(_ *testing.T, m *Module, n func(string) *Node) { m.Graph.At().Function(tNeg, nil, n("e")) }},
	"no output": {NoOutput, "", func(t *testing.T, m *Module, _ func(string) *Node) {
		require.NoError(t, m.Graph.Erase(m.Graph.Output()))
	}},
	"one name twice":     {DuplicateName, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("a").base = "b" }},
	"no operator":        {BadOperator, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").op = nil }},
	"others' attributes": {BadOperator, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").attrs = tAddAttrs{} }},
	"operator of input":  {BadOperator, "x", func(_ *testing.T, _ *Module, n func(string) *Node) { n("x").op = tNeg }},
	"module's attributes": {BadOperator, "a", func(_ *testing.T, m *Module, _ func(string) *Node) {
		m.SetBound("fc", Bound{Op: tLinear, Attrs: tAddAttrs{}, Params: []string{"w"}})
	}},
	"operand absent": {BadOperandCount, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").SetArg(1, nil) }},
	"operands too many": {BadOperandCount, "a", func(_ *testing.T, m *Module, _ func(string) *Node) {
		m.SetBound("fc", Bound{Op: tNeg, Attrs: op.None{}, Params: []string{"w"}})
	}},
	"parameter missing": {MissingParam, "w", func(_ *testing.T, _ *Module, n func(string) *Node) { n("w").target = "v" }},
	"leaf's parameter": {MissingParam, "a", func(_ *testing.T, m *Module, _ func(string) *Node) {
		m.SetBound("fc", Bound{Op: tLinear, Attrs: op.None{}, Params: []string{"v"}})
	}},
	"module missing": {MissingModule, "a", func(_ *testing.T, _ *Module, n func(string) *Node) { n("a").target = "gc" }},
	"symbol in type": {UndefinedSymbol, "nz", func(_ *testing.T, _ *Module, n func(string) *Node) {
		n("nz").SetType(shape.TensorType(array.I64, shape.Of(shape.Sym("Z"), shape.Const(2))))
	}},
	"symbol in attrs": {UndefinedSymbol, "s", func(t *testing.T, _ *Module, n func(string) *Node) {
		_ = n("s").SetAttrs(tSplitAttrs{shape.Of(shape.Sym("Z"), shape.Sym("N"))})
	}},
	"symbol too early": {UndefinedSymbol, "d", func(_ *testing.T, _ *Module, n func(string) *Node) {
		n("d").SetType(shape.TensorType(array.F32, shape.Of(shape.Sym("K"), shape.Const(4))))
	}},
	"symbol's node gone": {DeadFact, "gone", func(t *testing.T, m *Module, n func(string) *Node) {
		g := m.Graph.Before(n("e")).Function(tNeg, nil, n("d"))
		g.Rename("gone")
		require.NoError(t, m.Graph.Erase(g))
		m.Graph.DefineSymbol("Y", g, 0)
	}},
	"symbol's axis": {DeadFact, "e", func(_ *testing.T, m *Module, n func(string) *Node) { m.Graph.DefineSymbol("Y", n("e"), 2) }},
	"guard's node": {DeadFact, "other", func(_ *testing.T, m *Module, _ func(string) *Node) {
		m.Graph.AddGuard(shape.Sym("N"), shape.Const(4), New("").At().Placeholder("other", shape.Type{}, nil))
	}},
	"guard's symbol": {DeadFact, "e", func(_ *testing.T, m *Module, n func(string) *Node) {
		m.Graph.AddGuard(shape.Sym("N"), shape.Sym("Z"), n("e"))
	}},
	"wrong type": {TypeDisagrees, "e", func(_ *testing.T, _ *Module, n func(string) *Node) {
		n("e").SetType(shape.TensorType(array.F32, shape.ConstDims(1, 5)))
	}},
	"type rule refuses": {op.BadAttr, "d", func(_ *testing.T, _ *Module, n func(string) *Node) { n("d").attrs = op.GetItemAttrs{Index: 7} }},
	"structure index":   {BadStructure, "output", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.Output().Structure().Fields[0].Index = 2 }},
	"structure leaves":  {BadStructure, "output", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.Output().Structure().Fields[0].Index = 1 }},
	"structure nil":     {BadStructure, "output", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.Output().Structure().Fields[0] = nil }},
	"structure kind":    {BadStructure, "output", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.Output().Structure().Fields[0].Kind = 99 }},
	"structure keys":    {BadStructure, "output", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.Output().Structure().Kind = MapOf }},
	"regions too few":   {BadRegions, "c", func(_ *testing.T, _ *Module, n func(string) *Node) { n("c").extra.regions = n("c").extra.regions[:1] }},
	"regions too many": {BadRegions, "e", func(_ *testing.T, m *Module, n func(string) *Node) {
		n("e").more().regions = []*Graph{m.Graph.NewRegion("")}
	}},
	"region nil": {BadRegions, "c", func(_ *testing.T, _ *Module, n func(string) *Node) { n("c").extra.regions[0] = nil }},
	"region's inputs": {BadRegions, "c", func(_ *testing.T, _ *Module, n func(string) *Node) {
		r := n("c").Regions()[0]
		r.Before(r.First()).Placeholder("q", shape.Type{}, nil)
	}},
	"region's result": {BadRegions, "c", func(t *testing.T, _ *Module, n func(string) *Node) {
		r := n("c").Regions()[1]
		r.Output().SetArg(0, r.Before(r.Output()).Function(tNonzero, nil, r.First()))
		r.Output().typ = outputType(r.Output())
	}},
	"links":     {BrokenNodeList, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").prev = nil }},
	"cycle":     {BrokenNodeList, "a", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").next = n("a") }},
	"order key": {BrokenNodeList, "b", func(_ *testing.T, _ *Module, n func(string) *Node) { n("b").order = 0 }},
	"count":     {BrokenNodeList, "", func(_ *testing.T, m *Module, _ func(string) *Node) { m.Graph.count++ }},
}

func TestLintAcceptsSoundGraphs(t *testing.T) {
	require.Empty(t, Lint(parse(t, sound).Graph))
	for _, name := range []string{"identity", "all opcodes", "guards and data-dependent symbols", "regions"} {
		require.Empty(t, Lint(parse(t, roundTrips[name]).Graph), name)
	}
}

func TestLintFindsSeededFaults(t *testing.T) {
	codes := map[diag.Code]bool{}
	for name, s := range seeds {
		t.Run(name, func(t *testing.T) {
			m := parse(t, sound)
			s.do(t, m, m.Graph.Find)
			found := false
			for _, e := range Lint(m.Graph) {
				require.NotEmpty(t, e.Msg)
				found = found || e.Code == s.code && e.Node == s.node
			}
			require.True(t, found, "%s at %q, have:\n%v", s.code, s.node, Lint(m.Graph))
			codes[s.code] = true
		})
	}
	for _, c := range []diag.Code{NoOutput, BrokenUses, BrokenOrder, ForeignNode, LatePlaceholder, OutputPlace, DuplicateName, BadOperator,
		BadOperandCount, MissingParam, MissingModule, UndefinedSymbol, DeadFact, TypeDisagrees, BadStructure, BadRegions, BrokenNodeList} {
		require.True(t, codes[c], c)
		_, ok := diag.Lookup(c)
		require.True(t, ok, c)
	}
}

func TestLintReportsEveryFault(t *testing.T) {
	m := parse(t, sound)
	m.Graph.Find("b").SetArg(1, nil)
	m.Graph.Find("w").target = "v"
	m.Graph.Find("e").SetType(shape.Unranked(array.I64))
	l := Lint(m.Graph)
	require.Len(t, l, 3)
	require.True(t, l.Is(BadOperandCount) && l.Is(MissingParam) && l.Is(TypeDisagrees))
}

func TestLintLoops(t *testing.T) {
	const loop = `graph g(%x: f32[2], %s: f32[5,2]) {
  %y = call_function[scan](%x, %s) {carry=1, seqs=1} : (f32[2], f32[5,2]) {
    region body(%c: f32[2], %e: f32[2]) {
      %n = call_function[@add](%c, %e) : f32[2]
      return (%n, %e)
    }
  }
  return %y
}`
	m := parse(t, loop)
	require.Empty(t, Lint(m.Graph))
	m.Graph.Find("y").attrs = op.LoopAttrs{Carry: 3, Seqs: -1}
	require.True(t, Lint(m.Graph).Is(BadRegions))
	m.Graph.Find("y").attrs = op.LoopAttrs{Carry: -7, Seqs: 1}
	require.NotPanics(t, func() { Lint(m.Graph) })
}
