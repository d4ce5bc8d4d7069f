package parity

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.6", dceRows, cseRows, foldRows) }

// The passes that rows rest on.
var (
	dcePass   = variable{"passes/simplify.DCE", simplify.DCE}
	csePass   = variable{"passes/simplify.CSE", simplify.CSE}
	foldPass  = variable{"passes/simplify.ConstFold", simplify.ConstFold}
	plainPass = variable{"passes/simplify.Functionalize", simplify.Functionalize}
)

// counter adds to a buffer at each call.
type counter struct {
	Calls *tensor.Tensor `fx:",buffer"`
}

func (m *counter) Forward(x tt) tt {
	tensor.On(x, m.Calls).AddScalarInPlace(1)
	return x.Neg()
}

var dceRows = []row{
	{id: "104a", input: "a chain of calls that nobody uses, an unused parameter, an unused input", outcome: "gone in one sweep; the input stays; the flag tells", on: in(dcePass), test: func(t *testing.T) {
		m := parse(t, "graph g(%x: f32[2], %y: f32[2]) {\n  %w = get_attr[w]\n  %a = call_function[neg](%x)\n  %b = call_function[add](%a, %w)\n  %c = call_function[relu](%b)\n  %d = call_function[tanh](%x)\n  return %d\n}\nparam w : f32[2]\n")
		report, err := passes.Run(context.Background(), m, []passes.Pass{simplify.DCE, simplify.DCE}, passes.Options{})
		require.NoError(t, err)
		require.Equal(t, "x y d output", order(m.Graph))
		require.True(t, report.Passes[0].Changed)
		require.Equal(t, 4, report.Passes[0].Matches)
		require.False(t, report.Passes[1].Changed)
	}},
	{id: "104b", input: "calls of a wrapped function with effects, of a pure one, of an operator, and a write to a buffer; none of the results used", outcome: "what has effects stays, by what is declared; the buffer counts runs", on: in((*graph.Node).Effect), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { mark(x); half(x); x.Exp(); return x.Neg() }, fx.Input("x", "f32[N]"))
		apply(t, gm.Module, simplify.DCE)
		require.NotNil(t, gm.Graph.Find("Mark"))
		require.Nil(t, gm.Graph.Find("Half"), "it is declared pure")
		require.Nil(t, gm.Graph.Find("exp"))
		gm = capture(t, &counter{vector(0)}, fx.Input("x", "f32[2]"))
		apply(t, gm.Module, simplify.DCE)
		p := &interp.Interpreter{State: interp.NewState(gm.Module)}
		run(t, p, vector(1, 2))
		run(t, p, vector(1, 2))
		require.Equal(t, []float32{2}, tensor.Data[float32](p.State.Tensor("calls")))
	}},
	{id: "104c", input: "`y.AddScalarInPlace(1)`, whose result is not used, on a value that is returned; an unused call", outcome: "the result has the sum, as in Go; the call is gone", on: in((*tensor.Tensor).AddScalarInPlace, dcePass), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt {
			y := x.AddScalar(1)
			y.AddScalarInPlace(1)
			x.Exp()
			return y
		}, fx.Input("x", "f32[1]"))
		apply(t, gm.Module, simplify.DCE)
		require.Equal(t, map[string]int{"add": 2}, opcounts(gm.Graph))
		require.Equal(t, [][]float32{{2}}, results(t, gm, vector(0)))
	}},
}

var cseRows = []row{
	{id: "105a", input: "two equal calls and what uses them, the pass twice", outcome: "one call of each; nothing the second time; the flag is that the size changed", on: in(csePass), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_method[neg](%x)\n  %c = call_function[exp](%a)\n  %d = call_function[exp](%b)\n  %e = call_function[add](%c, %d)\n  return %e")
		first := apply(t, m, simplify.CSE)
		require.Equal(t, 2, first.Matches("cse"))
		require.Equal(t, "x y a c e output", order(m.Graph))
		require.True(t, first.Changed())
		require.False(t, apply(t, m, simplify.CSE).Changed())
	}},
	{id: "105b", input: "a call with a default spelt out, and without it; lists of operands in equal and in other order", outcome: "merged; the equal ones are merged", on: in(csePass), test: func(t *testing.T) {
		gm := capture(t, func(x, y tt) []tt {
			return []tt{x.Sum(), x.Sum(), x.Gelu(tensor.GeluAttrs{Approximate: "tanh"}), x.Gelu(), tensor.Cat([]tt{x, y}, 0), tensor.Cat([]tt{x, y}, 0), tensor.Cat([]tt{y, x}, 0)}
		}, fx.Input("x", "f32[4]"), fx.Input("y", "f32[4]"))
		apply(t, gm.Module, simplify.CSE)
		require.Equal(t, map[string]int{"sum": 1, "gelu": 2, "cat": 2}, opcounts(gm.Graph))
	}},
	{id: "105c", input: "three calls of a wrapped function with effects; reads of a buffer around a write", outcome: "all stay", on: in((*graph.Node).Effect, graph.EffectsOf), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { mark(x); return mark(x).Add(mark(x)) }, fx.Input("x", "f32[2]"))
		apply(t, gm.Module, simplify.CSE)
		require.Equal(t, 3, strings.Count(gm.Graph.String(), "parity.Mark]"))
		gm = capture(t, &counter{vector(0)}, fx.Input("x", "f32[2]"))
		before := gm.Graph.Len()
		require.Empty(t, graph.EffectsOf(graph.New("pure")).Paths())
		require.Equal(t, []string{"calls"}, graph.EffectsOf(gm.Graph).Paths())
		apply(t, gm.Module, simplify.CSE)
		require.Equal(t, before, gm.Graph.Len())
	}},
	{id: "105d", input: "100 random graphs, each call of a function in them twice", outcome: "the copies are gone; they compute what they did; the pass changes nothing the second time", on: in(csePass), test: func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			m := fxtest.RandomGraph(r)
			doubled := 0
			for _, n := range collect(m.Graph.Nodes()) {
				if n.Opcode() == graph.CallFunction {
					doubled++
					m.Graph.After(n).Function(n.Op(), n.Attrs(), n.Args()...)
				}
			}
			twice := m.Graph.Len()
			merged := apply(t, m, simplify.CSE).Matches("cse")
			require.GreaterOrEqual(t, merged, doubled)
			require.Equal(t, twice-merged, m.Graph.Len())
			require.False(t, apply(t, m, simplify.CSE).Changed())
		})
	}},
}

// frozen has two parameters, and calls of these alone.
const frozen = `graph g(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %v = get_attr[v] : f32[2]
  %s = call_function[add](%w, %v) : f32[2]
  %n = call_function[neg](%s) : f32[2]
  %y = call_function[mul](%x, %n) : f32[2]
  return {y: %y, n: %n}
}
param w : f32[2]
param v : f32[2]
`

func frozenModule(t *testing.T) *graph.Module {
	t.Helper()
	m := parse(t, frozen)
	for _, path := range []string{"w", "v"} {
		p := *m.Param(path)
		p.Value = array.FromSlice([]float32{1, 2})
		m.SetParam(p)
	}
	return m
}

var foldRows = []row{
	{id: "106a", input: "calls of parameters alone, one of whose values is used and returned; nothing to fold", outcome: "one new parameter under a free path; what nothing reads is dropped; the structure of the result stays; no change", on: in(foldPass), test: func(t *testing.T) {
		m := frozenModule(t)
		require.True(t, apply(t, m, simplify.ConstFold).Changed())
		require.Equal(t, map[string]int{"mul": 1}, opcounts(m.Graph))
		require.Len(t, m.Params(), 1)
		require.Equal(t, []string{"y", "n"}, m.Graph.Output().Structure().Keys)
		require.Equal(t, []float32{-2, -4}, values(t, m, vector(1, 1)))
		require.False(t, apply(t, m, simplify.ConstFold).Changed())
	}},
	{id: "106b", input: "a parameter that runs write, one that is read live, a value that is too large", outcome: "left as they are, the last one with the reason", on: in(simplify.ConstFoldLimit), test: func(t *testing.T) {
		gm := capture(t, &counter{vector(0)}, fx.Input("x", "f32[2]"))
		text := gm.Module.String()
		require.False(t, apply(t, gm.Module, simplify.ConstFold).Changed())
		require.Equal(t, text, gm.Module.String())
		m := frozenModule(t)
		m.Graph.Find("w").SetLive(true)
		require.False(t, apply(t, m, simplify.ConstFold).Changed())
		big := parse(t, "graph g(%x: f32[2]) {\n  %w = get_attr[w] : f32[1]\n  %e = call_function[expand](%w) {shape=[1000]}\n  %n = call_function[neg](%e)\n  return %x, %n\n}\nparam w : f32[1]\n")
		p := *big.Param("w")
		p.Value = array.FromSlice([]float32{1})
		big.SetParam(p)
		report := apply(t, big, simplify.ConstFoldLimit(100))
		require.False(t, report.Changed())
		require.Contains(t, report.Explain(), "%n")
	}},
	{id: "106c", input: "positions of what is folded", outcome: "what stands for has the position of the call", on: in(foldPass), test: func(t *testing.T) {
		m := parse(t, strings.Replace(frozen, "(%s) : f32[2]", "(%s) : f32[2] at \"net.go:9\"", 1))
		for _, path := range []string{"w", "v"} {
			p := *m.Param(path)
			p.Value = array.FromSlice([]float32{1, 2})
			m.SetParam(p)
		}
		apply(t, m, simplify.ConstFold)
		folded := m.Graph.Find("y").Arg(1)
		require.Equal(t, graph.GetAttr, folded.Opcode())
		require.Equal(t, 9, folded.Pos().Line)
	}},
}
