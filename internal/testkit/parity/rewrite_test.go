package parity

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.5", matchRows, replaceRows) }

type tt = *tensor.Tensor

// body is a graph of two inputs f32[4] with these lines.
func body(t *testing.T, lines string) *graph.Module {
	t.Helper()
	return parse(t, "graph g(%x: f32[4], %y: f32[4]) {\n"+lines+"\n}\n")
}

// apply runs passes, checks the graph after each and that it still computes the same
// results.
func apply(t *testing.T, m *graph.Module, list ...passes.Pass) *passes.Report {
	t.Helper()
	report, err := passes.Run(context.Background(), m, list, passes.Options{Numeric: &passes.Numeric{}})
	require.NoError(t, err)
	require.Empty(t, graph.Lint(m.Graph))
	return report
}

// rewrite applies one rule and returns how often it matched, with the report.
func rewrite(t *testing.T, m *graph.Module, r passes.Rewrite) (int, string) {
	t.Helper()
	if r.Name == "" {
		r.Name = "rule"
	}
	r.Doc = "A rule."
	report := apply(t, m, passes.Rule(r))
	return report.Matches(r.Name), report.Explain()
}

func negNeg(x tt) tt { return x.Neg().Neg() }
func itself(x tt) tt { return x }

// negations is a chain of n of them, of which the last one is returned.
func negations(t *testing.T, n int) *graph.Module {
	t.Helper()
	lines, last := "", "%x"
	for i := range n {
		name := "%n" + string(rune('a'+i))
		lines += "  " + name + " = call_function[neg](" + last + ")\n"
		last = name
	}
	return body(t, lines+"  return "+last)
}

// countedCalls counts the calls of Counted.
var countedCalls int

var counted = tensor.WrapPure(Counted, tensor.Signature("f32[N] -> f32[N]"))

// Counted is a Go function that counts its calls.
func Counted(x tt) tt { countedCalls++; return x }

var matchRows = []row{
	{id: "91a", input: "a pattern and its equal as replacement, on a chain of two", outcome: "one match; the same calls, made again", on: in(passes.Rule, passes.Run), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[exp](%a)\n  return %b")
		n, _ := rewrite(t, m, passes.Rewrite{Pattern: func(x tt) tt { return x.Neg().Exp() }, Replacement: func(x tt) tt { return x.Neg().Exp() }})
		require.Equal(t, 1, n)
		require.Equal(t, "x y neg exp output", order(m.Graph))
	}},
	{id: "91b", input: "`neg(neg(x))` in chains of 1 to 5 of them, and twice in one graph", outcome: "matches that do not overlap, the first one first: 0, 1, 1, 2, 2; 2", on: in(passes.Rule), test: func(t *testing.T) {
		for length, want := range []int{0, 0, 1, 1, 2, 2} {
			m := negations(t, length)
			n, why := rewrite(t, m, passes.Rewrite{Pattern: negNeg, Replacement: itself})
			require.Equal(t, want, n, why)
			require.Equal(t, length%2, opcounts(m.Graph)["neg"])
		}
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[neg](%a)\n  %c = call_function[neg](%y)\n  %d = call_function[neg](%c)\n  return %b, %d")
		n, _ := rewrite(t, m, passes.Rewrite{Pattern: negNeg, Replacement: itself})
		require.Equal(t, 2, n)
		require.Equal(t, "x y output", order(m.Graph))
	}},
	{id: "92", input: "a pattern that is the whole graph; one with two results; one whose two results are one value", outcome: "one match each; the results are replaced", on: in(passes.Rule), test: func(t *testing.T) {
		whole := body(t, "  %a = call_function[sub](%x, %y)\n  %b = call_function[neg](%a)\n  %c = call_function[relu](%a)\n  return %b, %c")
		n, why := rewrite(t, whole, passes.Rewrite{Pattern: func(x, y tt) (tt, tt) { d := x.Sub(y); return d.Neg(), d.Relu() },
			Replacement: func(x, y tt) (tt, tt) { return y.Sub(x), x.Sub(y).Relu() }})
		require.Equal(t, 1, n, why)
		require.Equal(t, "x y sub sub_1 relu output", order(whole.Graph))
		double := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[add](%a, %a)\n  return %b")
		n, why = rewrite(t, double, passes.Rewrite{Pattern: func(x tt) (tt, tt) { n := x.Neg(); return n, n }, Replacement: func(x tt) (tt, tt) { n := x.MulScalar(-1); return n, n }})
		require.Equal(t, 1, n, why)
		require.Equal(t, "x y mul b output", order(double.Graph))
	}},
	{id: "93", input: "a value inside of the match used outside; the result used outside", outcome: "no match, with the user and its line; a match", on: in(passes.Explain, passes.Rule), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[neg](%a)\n  %c = call_function[add](%a, %b) at \"net.go:30\"\n  return %c")
		r := passes.Rewrite{Name: "double", Pattern: negNeg, Replacement: itself}
		why, err := passes.Explain(r, m.Graph.Find("b"))
		require.NoError(t, err)
		require.Contains(t, why, "is used by %c at net.go:30")
		n, _ := rewrite(t, m, r)
		require.Zero(t, n)
		m = body(t, "  %a = call_function[neg](%x)\n  %b = call_function[neg](%a)\n  %c = call_function[add](%b, %b)\n  %d = call_function[exp](%b)\n  return %c, %d")
		n, _ = rewrite(t, m, r)
		require.Equal(t, 1, n)
		require.True(t, m.Graph.Find("c").Arg(0) == m.Graph.Find("x"))
	}},
	{id: "94a", input: "`sub(x, relu(y))` against `sub(relu(x), y)`; a sum in either order with `Commute`", outcome: "no match; both match", on: in(passes.Commute), test: func(t *testing.T) {
		first := "  %a = call_function[relu](%x)\n  %b = call_function[sub](%a, %y)\n  return %b"
		n, _ := rewrite(t, body(t, first), passes.Rewrite{Pattern: func(x, y tt) tt { return x.Sub(y.Relu()) }, Replacement: func(x, y tt) tt { return y.Relu().Sub(x).Neg() }})
		require.Zero(t, n)
		for _, operands := range []string{"%a, %y", "%y, %a"} {
			m := body(t, "  %a = call_function[relu](%x)\n  %b = call_function[add]("+operands+")\n  return %b")
			n, why := rewrite(t, m, passes.Rewrite{Pattern: func(x, y tt) tt { return passes.Commute(x.Relu().Add(y)) }, Replacement: func(x, y tt) tt { return y.Add(x.Clamp(0, nil)) }})
			require.Equal(t, 1, n, why)
		}
	}},
	{id: "94b", input: "a parameter of the pattern where the graph has an input, a parameter, a call of a leaf; numbers with `Number`", outcome: "it stands for any value; the number is told", on: in(passes.Number), test: func(t *testing.T) {
		m := linear(t)
		n, why := rewrite(t, m, passes.Rewrite{Pattern: func(x, w tt) tt { return x.Mul(w) }, Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			require.Equal(t, graph.CallModule, m.Inputs[0].Opcode())
			require.Equal(t, graph.GetAttr, m.Inputs[1].Opcode())
			return []*graph.Node{c.Function(std.Mul, nil, m.Inputs[1], m.Inputs[0])}
		}})
		require.Equal(t, 1, n, why)
		gm := capture(t, func(x tt) tt { return x.MulScalar(3).MulScalar(0.5) }, fx.Input("x", "f32[4]"))
		n, why = rewrite(t, gm.Module, passes.Rewrite{Pattern: func(x tt) tt { return x.MulScalar(passes.Number(0)).MulScalar(passes.Number(1)) },
			Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
				require.Equal(t, []float64{3, 0.5}, m.Numbers)
				return []*graph.Node{c.Call(std.Mul, m.Roots[0].Attrs(), c.Call(std.Mul, m.Roots[0].Arg(0).Attrs(), m.Inputs[0])).(*graph.Node)}
			}})
		require.Equal(t, 1, n, why)
	}},
}

var replaceRows = []row{
	{id: "95", input: "a replacement with a layer of its own, where the graph has a parameter of the same path", outcome: "its tensors are stored under paths of their own; what nothing uses any more is dropped", on: in((*graph.Module).FreshPath, (*graph.Module).DropUnused), test: func(t *testing.T) {
		m, other := linear(t), nn.NewLinear(2, 2)
		scale := tensor.FromSlice([]float32{5, 5})
		report, err := passes.Run(context.Background(), m, []passes.Pass{simplify.Functionalize, passes.Rule(passes.Rewrite{Name: "swap", Doc: "Swaps.",
			Pattern:     func(x, w, s tt) tt { return tensor.Linear(x, w, nil).Mul(s) },
			Replacement: func(x, w, s tt) tt { return other.Forward(x).Mul(scale) }})}, passes.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, report.Matches("swap"), report.Explain())
		m.DropUnused()
		require.Nil(t, m.Param("fc.weight"))
		require.Nil(t, m.Param("scale"))
		require.Len(t, m.Params(), 3)
		require.Equal(t, floats(other.Forward(tensor.Ones(1, 2)).MulScalar(5)), [][]float32{values(t, m, tensor.Ones(1, 2))})
	}},
	{id: "96", input: "a parameter that the pattern does not use; a method where the pattern has a function; attributes spelt in another order", outcome: "it stands for nothing; they match, whatever the spelling", on: in(passes.Rule), test: func(t *testing.T) {
		_, err := passes.Run(context.Background(), negations(t, 2), []passes.Pass{passes.Rule(passes.Rewrite{Name: "r", Doc: "d", Pattern: func(x, y tt) tt { return x.Neg() }, Replacement: func(x, y tt) tt { return x.Neg() }})}, passes.Options{})
		require.ErrorIs(t, err, passes.BadRule)
		m := body(t, "  %a = call_method[neg](%x)\n  %b = call_function[neg](%a)\n  %c = call_method[transpose](%b) {dim1=0, dim0=0}\n  return %c")
		n, why := rewrite(t, m, passes.Rewrite{Types: []string{"f32[A]"}, Pattern: func(x tt) tt { return x.Neg().Neg().Transpose(0, 0) }, Replacement: itself})
		require.Equal(t, 1, n, why)
	}},
	{id: "97", input: "alternatives of which the first fits in part, and binds a parameter to another value", outcome: "what it bound is forgotten: the second one matches", on: in(passes.AnyOf), test: func(t *testing.T) {
		m := body(t, "  %a = call_function[neg](%x)\n  %b = call_function[exp](%y)\n  %c = call_function[mul](%a, %b)\n  return %c")
		n, why := rewrite(t, m, passes.Rewrite{
			Pattern:     func(x, y tt) tt { return passes.AnyOf(y.Neg().Mul(x.Tanh()), x.Neg().Mul(y.Exp())) },
			Replacement: func(x, y tt) tt { return y.Exp().Mul(x).Neg() }})
		require.Equal(t, 1, n, why)
		require.Equal(t, "x y exp mul neg output", order(m.Graph))
	}},
	{id: "98", input: "a filter that vetoes; a replacement built for each match; the report", outcome: "no match and the reason; the built nodes; matches with what replaced them", on: in((*passes.Report).Explain, (*passes.Report).Matches), test: func(t *testing.T) {
		m := negations(t, 4)
		n, why := rewrite(t, m, passes.Rewrite{Pattern: negNeg, Replacement: itself, Where: func(*passes.Match) string { return "not on a Monday" }})
		require.Zero(t, n)
		require.Contains(t, why, "not on a Monday")
		made := 0
		n, why = rewrite(t, m, passes.Rewrite{Pattern: negNeg, Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			made++
			return []*graph.Node{c.Function(std.Mul, nil, m.Inputs[0], c.Function(std.OnesLike, nil, m.Inputs[0]))}
		}})
		require.Equal(t, 2, n)
		require.Equal(t, 2, made)
		require.Contains(t, why, "replaced by %mul")
	}},
	{id: "99", input: "`cat(x, y)` against lists of one, two and three; with `Rest`", outcome: "the list of two alone; all", on: in(passes.Rest), test: func(t *testing.T) {
		for list, want := range map[string][2]int{"%x": {0, 1}, "%x, %y": {1, 1}, "%x, %y, %x": {0, 1}} {
			text := "  %a = call_function[cat](" + list + ")\n  return %a"
			n, _ := rewrite(t, body(t, text), passes.Rewrite{Pattern: func(x, y tt) tt { return tensor.Cat([]tt{x, y}, 0) }, Replacement: func(x, y tt) tt { return tensor.Cat([]tt{x, y}, 0) }})
			require.Equal(t, want[0], n, list)
			var rest []*graph.Node
			n, why := rewrite(t, body(t, text), passes.Rewrite{Pattern: func(x tt) tt { return tensor.Cat([]tt{x, passes.Rest(0)}, 0) }, Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
				rest = m.Rests[0]
				return []*graph.Node{c.Function(std.Cat, m.Roots[0].Attrs(), m.Roots[0].Args()...)}
			}})
			require.Equal(t, want[1], n, why)
			require.Len(t, rest, strings.Count(list, ","))
		}
	}},
	{id: "100", input: "parts of a pattern with names", outcome: "`Match.Node` is the node that the part stands for, nil for one that is not there", on: in(passes.Named, (*passes.Match).Node, (*passes.Match).Attr, passes.Optional), test: func(t *testing.T) {
		for lines, scaled := range map[string]bool{
			"  %a = call_function[softmax](%x) {dim=-1}\n  return %a":                                false,
			"  %m = call_function[neg](%x)\n  %a = call_function[softmax](%m) {dim=-1}\n  return %a": true,
		} {
			m := body(t, lines)
			n, why := rewrite(t, m, passes.Rewrite{
				Pattern: func(x tt) tt {
					return passes.Named("soft", passes.Loose(passes.Optional(x, func(x tt) tt { return passes.Named("neg", x.Neg()) }).Softmax(0)))
				},
				Where: func(m *passes.Match) string {
					require.Equal(t, std.Softmax, m.Node("soft").Op())
					require.Equal(t, -1, m.Attr("soft", "dim"))
					require.Equal(t, scaled, m.Node("neg") != nil)
					return ""
				},
				Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
					return []*graph.Node{c.Function(std.Softmax, m.Node("soft").Attrs(), m.Node("soft").Arg(0))}
				}})
			require.Equal(t, 1, n, why)
		}
	}},
	{id: "101", input: "a constant in the pattern, parameters of this and of another value, of any shape", outcome: "constants are compared by value and element type; a parameter that a run may change is none", on: in(passes.Constant), test: func(t *testing.T) {
		half := passes.Rewrite{Pattern: func(x tt) tt { return x.Mul(passes.Constant(0.5)) }, Replacement: func(x tt) tt { return x.DivScalar(2) }}
		for value, want := range map[*array.Array]int{array.FromSlice([]float32{0.5, 0.5}): 1, array.FromSlice([]float32{0.5, 0.25}): 0} {
			m := linear(t)
			p := *m.Param("scale")
			p.Value = value
			m.SetParam(p)
			n, why := rewrite(t, graph.Clone(m), half)
			require.Equal(t, want, n, why)
			m.Graph.Find("w").SetLive(true)
			n, _ = rewrite(t, m, half)
			require.Zero(t, n)
		}
	}},
	{id: "102", input: "a replacement that knows more of its type, in front of a view and of a wrapped Go function; one of another size", outcome: "types after it are inferred again, the function is not called; refused", on: in(passes.DescribeConflict, (*graph.Node).Retype), test: func(t *testing.T) {
		gm := capture(t, func(x tt) tt { return counted(x.Neg().Neg()).Unsqueeze(0) }, fx.Input("x", "f32[4]"))
		for n := range gm.Graph.Nodes() {
			if n.Opcode().IsCall() && n.Name() != "neg" {
				n.SetType(shape.Unranked(array.F32))
			}
		}
		require.NoError(t, gm.Graph.Output().Retype())
		before := countedCalls
		report, err := passes.Run(context.Background(), gm.Module, []passes.Pass{passes.Rule(passes.Rewrite{Name: "double", Doc: "d", Pattern: negNeg, Replacement: itself})}, passes.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, report.Matches("double"), report.Explain())
		require.Equal(t, "f32[1,4]", gm.Graph.Output().Arg(0).Type().String())
		require.Equal(t, before, countedCalls)
		long := body(t, "  %a = call_function[exp](%x)\n  return %a")
		_, err = passes.Run(context.Background(), long, []passes.Pass{passes.Rule(passes.Rewrite{Name: "longer", Doc: "d", Pattern: tensor.Exp,
			Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
				return []*graph.Node{c.Function(std.Cat, nil, m.Inputs[0], m.Inputs[0])}
			}})}, passes.Options{})
		require.ErrorIs(t, err, passes.BadRule)
		require.ErrorContains(t, err, "f32[8] instead of f32[4]")
	}},
	{id: "103", input: "a graph cut by the modules and functions that its calls are of", outcome: "a sub-graph for each, whose calls are connected as the modules were", on: in((*graph.Node).Scope, partition.Split), test: func(t *testing.T) {
		m := &outerNet{Inner: newNet()}
		gm := trace(t, m)
		calls, err := partition.Split(gm.Module, func(n *graph.Node) string { return n.Scope().Path })
		require.NoError(t, err)
		require.Len(t, calls, 1)
		require.Equal(t, "inner", calls[0].Callee().Name)
		require.Equal(t, map[string]int{"linear": 2, "relu": 1}, opcounts(calls[0].Callee()))
		require.Equal(t, []string{"neg"}, users(gm.Graph, calls[0].Name()))
	}},
}
