package passes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func neg(x tt) tt { return x.Neg() }

func minus(n *graph.Node) string {
	if strings.HasPrefix(n.Name(), "minus") {
		return ""
	}
	return "has another name"
}

// markers are patterns that match, and that do not, for each marker.
var markers = map[string]choice{
	"any value": {open(func(x tt) tt { return x.Exp().Add(passes.Any().Neg()) }), `
  %e = call_function[exp](%x) : f32[4]
  %a = call_function[abs](%y) : f32[4]
  %n = call_function[neg](%a) : f32[4]
  %b = call_function[add](%e, %n) : f32[4]
  return %b`, 1, ""},
	"any value is a value": {open(func(x tt) tt { return x.Exp().Add(passes.Any()) }), `
  %e = call_function[exp](%x) : f32[4]
  %b = call_function[add](%e) {other=1} : f32[4]
  return %b`, 0, ""},
	"any two values": {open(func(x tt) tt { return x.Exp().Mul(passes.Any()).Add(passes.Any()) }), `
  %e = call_function[exp](%x) : f32[4]
  %m = call_function[mul](%e, %y) : f32[4]
  %b = call_function[add](%m, %x) : f32[4]
  return %b`, 1, ""},
	"a part that is there": {open(func(x, z tt) tt {
		return passes.Optional(x.Exp(), func(e tt) tt { return e.Add(z) }).Neg()
	}), `
  %e = call_function[exp](%x) : f32[4]
  %a = call_function[add](%e, %y) : f32[4]
  %n = call_function[neg](%a) : f32[4]
  return %n`, 1, ""},
	"a part that is missing": {open(func(x, z tt) tt {
		return passes.Optional(x.Exp(), func(e tt) tt { return e.Add(z) }).Neg()
	}), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%e) : f32[4]
  return %n`, 1, ""},
	"a part that is another one": {open(func(x, z tt) tt {
		return passes.Optional(x.Exp(), func(e tt) tt { return e.Add(z) }).Neg()
	}), `
  %e = call_function[exp](%x) : f32[4]
  %a = call_function[sub](%e, %y) : f32[4]
  %n = call_function[neg](%a) : f32[4]
  return %n`, 0, "matched 1 of 3: at %a: is sub, the pattern has add"},
	"optional at both ends": {open(func(x tt) tt {
		inner := passes.Optional(x, neg).Exp()
		return passes.AnyOf(inner.Abs(), inner)
	}), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%e) : f32[4]
  %f = call_function[exp](%n) : f32[4]
  %a = call_function[abs](%f) : f32[4]
  %g = call_function[exp](%a) : f32[4]
  return %g`, 3, ""},
	"either order": {open(func(x tt) tt { return passes.Commute(x.Exp().Mul(x.Neg())) }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%x) : f32[4]
  %m = call_function[mul](%n, %e) : f32[4]
  return %m`, 1, ""},
	"either order, neither": {open(func(x tt) tt { return passes.Commute(x.Exp().Mul(x.Neg())) }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%y) : f32[4]
  %m = call_function[mul](%n, %e) : f32[4]
  return %m`, 0, "matched 3 of 3: at %x: the pattern has the same value as %y here"},
	"either order within either order": {open(func(x, z tt) tt { return passes.Commute(passes.Commute(x.Exp().Add(z)).Mul(z.Neg())) }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%y) : f32[4]
  %a = call_function[add](%y, %e) : f32[4]
  %m = call_function[mul](%n, %a) : f32[4]
  return %m`, 1, ""},
	"one repetition": {open(func(x tt) tt { return passes.Repeat(x.Exp(), 1, 0, neg).Abs() }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%e) : f32[4]
  %a = call_function[abs](%n) : f32[4]
  return %a`, 1, ""},
	"no repetition": {open(func(x tt) tt { return passes.Repeat(x.Exp(), 0, 0, neg).Abs() }), `
  %e = call_function[exp](%x) : f32[4]
  %a = call_function[abs](%e) : f32[4]
  return %a`, 1, ""},
	"many repetitions of several calls": {open(func(x, z tt) tt {
		return passes.Repeat(x, 2, 0, func(y tt) tt { return y.Mul(y.Sigmoid()).Add(z) })
	}), `
  %s = call_function[sigmoid](%x) : f32[4]
  %m = call_function[mul](%x, %s) : f32[4]
  %a = call_function[add](%m, %y) : f32[4]
  %t = call_function[sigmoid](%a) : f32[4]
  %n = call_function[mul](%a, %t) : f32[4]
  %b = call_function[add](%n, %y) : f32[4]
  %u = call_function[sigmoid](%b) : f32[4]
  %o = call_function[mul](%b, %u) : f32[4]
  %c = call_function[add](%o, %y) : f32[4]
  return %c`, 1, ""},
	"too few repetitions": {open(func(x tt) tt { return passes.Repeat(x, 3, 0, neg).Abs() }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%e) : f32[4]
  %o = call_function[neg](%n) : f32[4]
  %a = call_function[abs](%o) : f32[4]
  return %a`, 0, "matched 3 of 4: at %e: is exp, the pattern has neg"},
	"too many repetitions": {open(func(x tt) tt { return passes.Repeat(x.Exp(), 0, 1, neg).Abs() }), `
  %e = call_function[exp](%x) : f32[4]
  %n = call_function[neg](%e) : f32[4]
  %o = call_function[neg](%n) : f32[4]
  %a = call_function[abs](%o) : f32[4]
  return %a`, 0, "at %n: is neg, the pattern has exp"},
	"repetitions whose operands differ": {open(func(x, z tt) tt { return passes.Repeat(x, 2, 0, func(y tt) tt { return y.Mul(z) }).Abs() }), `
  %m = call_function[mul](%x, %y) : f32[4]
  %n = call_function[mul](%m, %x) : f32[4]
  %a = call_function[abs](%n) : f32[4]
  return %a`, 0, "at %y: the pattern has the same value as %x here"},
	"repetitions with any operands": {open(func(x tt) tt { return passes.Repeat(x, 2, 0, func(y tt) tt { return y.Mul(passes.Any()) }).Abs() }), `
  %m = call_function[mul](%x, %y) : f32[4]
  %n = call_function[mul](%m, %x) : f32[4]
  %a = call_function[abs](%n) : f32[4]
  return %a`, 1, ""},
	"a repetition that others use": {open(func(x tt) tt { return passes.Repeat(x, 2, 0, neg).Abs() }), `
  %n = call_function[neg](%x) : f32[4]
  %o = call_function[neg](%n) : f32[4]
  %a = call_function[abs](%o) : f32[4]
  return %a, %n`, 0, "at %n: want no use outside of the match, is used by %output"},
	"loose in one attribute": {open(func(x tt) tt { return passes.Loose(x.DivScalar(tensor.Number(2.0)), "other").Neg() }), `
  %a = call_function[div](%x) {other=7} : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[div](%b) {other=7, reverse=true} : f32[4]
  %d = call_function[neg](%c) : f32[4]
  return %d`, 1, "at %c: the attributes are {other=7, reverse=true}, the pattern has {other=7}"},
	"a check": {open(func(x tt) tt { return passes.If(x.Neg(), minus).Exp() }), `
  %minus = call_function[neg](%x) : f32[4]
  %a = call_function[exp](%minus) : f32[4]
  %n = call_function[neg](%a) : f32[4]
  %b = call_function[exp](%n) : f32[4]
  return %b`, 1, "matched 2 of 2: at %n: has another name"},
	"a type": {open(func(x tt) tt { return passes.If(x.Neg(), passes.IsType("f32[A]")).Exp() }), `
  %n = call_function[neg](%x) : f32[4]
  %a = call_function[exp](%n) : f32[4]
  return %a`, 1, ""},
	"another type": {open(func(x tt) tt { return passes.If(x, passes.IsType("f64[*]")).Exp() }), `
  %a = call_function[exp](%x) : f32[4]
  return %a`, 0, "matched 1 of 1: at %x: is f32[4], expected f64[*]"},
	"no type": {open(func(x tt) tt { return passes.If(x, passes.IsType("f64[")).Exp() }), `
  %a = call_function[exp](%x) : f32[4]
  return %a`, 0, "the pattern wants the type f64[, which is none"},
	"uses": {open(func(x tt) tt { return passes.If(x.Neg(), passes.Uses(1, 1)).Exp() }), `
  %n = call_function[neg](%x) : f32[4]
  %a = call_function[exp](%n) : f32[4]
  return %a`, 1, ""},
	"uses of a parameter": {open(func(x tt) tt { return passes.If(x, passes.Uses(3, -1)).Exp() }), `
  %a = call_function[exp](%x) : f32[4]
  return %a, %x`, 0, "at %x: has 2 uses, expected 3 or more"},
	"in no scope": {open(func(x tt) tt { return passes.If(x.Exp(), passes.Within("layer")) }), `
  %a = call_function[exp](%x) : f32[4]
  return %a`, 0, "at %a: is in no module, expected one in layer"},
	"a marker of a marker": {open(func(x tt) tt {
		return passes.If(passes.Named("e", passes.Commute(passes.AnyOf(x.Exp(), x.Neg()).Add(x))), passes.Uses(1, 1))
	}), `
  %n = call_function[neg](%x) : f32[4]
  %a = call_function[add](%x, %n) : f32[4]
  return %a`, 1, ""},
}

// TestRest_standsForAnyNumberOfOperands covers Rest in patterns and replacements.
func TestRest_standsForAnyNumberOfOperands(t *testing.T) {
	drop := passes.Rewrite{Name: "drop", Doc: "d",
		Pattern: func(x tt) tt { return tensor.Cat([]tt{x.Neg().Neg(), passes.Rest(0)}, 0) },
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			return []*graph.Node{c.Function(std.Cat, m.Roots[0].Attrs(), append([]*graph.Node{m.Inputs[0]}, m.Rests[0]...)...)}
		}}
	same := passes.Rewrite{Name: "drop", Doc: "d", Pattern: drop.Pattern,
		Replacement: func(x tt) tt { return tensor.Cat([]tt{x, passes.Rest(0)}, 0) }}
	for name, c := range map[string]struct{ in, out, why string }{
		"two more": {in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[cat](%b, %y, %x) : f32[12]
  return %c`, out: `
  %cat = call_function[cat](%x, %y, %x) : f32[12]
  return %cat`},
		"none": {in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[cat](%b) : f32[4]
  return %c`, out: `
  %cat = call_function[cat](%x) : f32[4]
  return %cat`},
		"not first": {in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[cat](%y, %b) : f32[8]
  return %c`, why: "at %y: is placeholder, the pattern has neg"},
	} {
		for _, rule := range []passes.Rewrite{drop, same} {
			t.Run(name, func(t *testing.T) {
				m := passtest.Parse(t, "graph g(%x: f32[4], %y: f32[4]) {"+c.in+"\n}\n")
				before := graph.Clone(m)
				r, err := run(m, passes.Options{}, passes.Rule(rule))
				require.NoError(t, err)
				if c.why != "" {
					require.Contains(t, r.Explain(), c.why)
					return
				}
				require.Equal(t, passtest.Parse(t, "graph g(%x: f32[4], %y: f32[4]) {"+c.out+"\n}\n").String(), m.String())
				passtest.Same(t, before, m)
			})
		}
	}
}

// TestRestInTheMiddle goes back until the operands after it fit, and stands for the
// same again.
func TestRestInTheMiddle(t *testing.T) {
	pattern := func(x, y tt) tt {
		return tensor.Cat([]tt{x, passes.Rest(0), y.Neg()}, 0).Add(tensor.Cat([]tt{y, passes.Rest(0), x}, 0))
	}
	for second, why := range map[string]string{"%x, %y, %x": "", "%x, %x, %x": "the pattern has the same operands as before here"} {
		m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %n = call_function[neg](%x) : f32[4]
  %a = call_function[cat](%x, %y, %n) : f32[12]
  %b = call_function[cat](`+second+`) : f32[12]
  %c = call_function[add](%a, %b) : f32[12]
  return %c
}
`)
		got, err := passes.Explain(open(pattern), m.Graph.Find("c"))
		require.NoError(t, err)
		require.Contains(t, got, why)
		require.Equal(t, why == "", got == "")
	}
}

// TestConstantsByValue finds numbers as tensors of any shape and as attributes.
func TestConstantsByValue(t *testing.T) {
	half := open(func(x tt) tt { return passes.Commute(passes.Constant(0.5).Mul(x)).Neg() })
	for body, why := range map[string]string{
		"call_function[mul](%x, %h)":           "",
		"call_function[mul](%h, %x)":           "",
		"call_function[mul](%x) {other=0.5}":   "",
		"call_function[mul](%x, %v)":           "",
		"call_function[mul](%x) {other=0.25}":  "matched 2 of 3: an operand is absent where the pattern has Constant",
		"call_function[mul](%x, %q)":           "the constant is another one than 0.5 everywhere",
		"call_function[mul](%x, %y)":           "is no constant",
		"call_function[mul](%x, %z)":           "the constant is another one than 0.5 everywhere",
		"call_function[mul](%x, %b)":           "is no constant",
		"call_function[mul](%x, %c)":           "", // of another type, all 0.5
		"call_function[add](%x) {other=0.5}":   "is add, the pattern has mul",
		"call_function[mul](%x) {other=false}": "an operand is absent",
	} {
		m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %h = get_attr[h] : f32[]
  %v = get_attr[v] : f32[4]
  %q = get_attr[q] : f32[4]
  %z = get_attr[z] : i64[4]
  %b = get_attr[b] : f32[]
  %c = get_attr[c] : f16[1]
  %m = `+body+`
  %n = call_function[neg](%m)
  %w = call_function[assign](%b, %h) : f32[]
  return %n
}
param h : f32[]
param v : f32[4]
param q : f32[4]
param z : i64[4]
param b : f32[] buffer
param c : f16[1]
`)
		for path, v := range map[string][]float64{"h": {0.5}, "v": {.5, .5, .5, .5}, "q": {.5, .5, .5, 0}, "z": {0, 0, 0, 0}, "b": {0.5}, "c": {0.5}} {
			p := *m.Param(path)
			_, dims, _ := p.TypeOf().Concrete()
			p.Value = array.Cast(array.FromSlice(v, dims...), p.Value.DType())
			m.SetParam(p)
		}
		got, err := passes.Explain(half, m.Graph.Find("n"))
		require.NoError(t, err, body)
		require.Contains(t, got, why, body)
		require.Equal(t, why == "", got == "", body+": "+got)
	}
}

// TestNamesAndAttributes are what Build asks for.
func TestNamesAndAttributes(t *testing.T) {
	var got []any
	rule := open(func(x tt) tt {
		return passes.AnyOf(passes.Named("soft", passes.Loose(x.Softmax(0), "dim")).Neg(), passes.Named("exp", x.Exp()).Neg())
	})
	rule.Build = func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		got = append(got, m.Node("soft"), m.Node("exp"), m.Attr("soft", "dim"), m.Attr("exp", "dim"), m.Attr("soft", "width"), m.Attr("nobody", "dim"))
		return []*graph.Node{m.Inputs[0]}
	}
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %a = call_function[softmax](%x) {dim=-1} : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b
}
`)
	a := ""
	rule.Where = func(m *passes.Match) string { a = m.Node("soft").Name(); return "" }
	_, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, "a", a)
	require.Equal(t, "a", got[0].(*graph.Node).Name())
	require.Equal(t, []any{(*graph.Node)(nil), -1, nil, nil, nil}, got[1:])
}

// TestIsType compares what is known of types.
func TestIsType(t *testing.T) {
	for _, c := range []struct {
		have, want string
		ok         bool
	}{
		{"f32[3,3]", "f32[N,N]", true}, {"f32[3,4]", "f32[N,N]", false}, {"f32[3,4]", "?[*]", true}, {"f32[3,4]", "?[3,?]", true},
		{"f32[3,4]", "f32[3,5]", false}, {"f32[3,4]", "f32[3]", false}, {"f32[*]", "f32[A]", false}, {"?[2]", "f32[2]", false}, {"f32[?]", "f32[A]", false},
		{"(f32[2], i64[2])", "(f32[A], i64[*])", true}, {"(f32[2], i64[2])", "(f32[A], f32[*])", false}, {"(f32[2], i64[2])", "f32[2]", false},
	} {
		m := passtest.Parse(t, "graph g(%x: f32[4]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
		n := m.Graph.Find("y")
		ty, err := shape.ParseType(c.have)
		require.NoError(t, err)
		n.SetType(ty)
		require.Equal(t, c.ok, passes.IsType(c.want)(n) == "", "%s as %s", c.have, c.want)
	}
}

// TestWithin looks at the scopes of nodes.
func TestWithin(t *testing.T) {
	m := passtest.Parse(t, "graph g(%x: f32[4]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
	for path, wants := range map[string]map[string]bool{
		"enc.2.attn": {"enc": true, "enc.2": true, "enc.*.attn": true, "*": true, "enc.21": false, "enc.2.attn.q": false, "dec": false, "": true},
		"":           {"enc": false, "": true, "*": true},
	} {
		c := m.Graph.Before(m.Graph.Output())
		c.SetScope(m.Graph.Scope(graph.Scope{Path: path}))
		n := c.Function(std.Neg, nil, m.Graph.Find("x"))
		for want, ok := range wants {
			require.Equal(t, ok, passes.Within(want)(n) == "", "%q within %q", path, want)
		}
	}
}

// TestMarkers_mistakes are found when the rule is compiled.
func TestMarkers_mistakes(t *testing.T) {
	for name, c := range map[string]struct {
		pattern any
		msg     string
	}{
		"subtraction":         {func(x, y tt) tt { return passes.Commute(x.Sub(y)) }, "the operands of sub cannot be exchanged"},
		"matrices":            {func(x, y tt) tt { return passes.Commute(x.Matmul(y)) }, "the operands of matmul cannot be exchanged"},
		"one operand":         {func(x tt) tt { return passes.Commute(x.Neg()) }, "Commute takes a call with two operands"},
		"a parameter":         {func(x tt) tt { return passes.Commute(x).Neg() }, "Commute takes a call with two operands"},
		"loose order":         {func(x, y tt) tt { return passes.Commute(passes.Loose(x.Add(y))) }, "no open attributes"},
		"repeated parameter":  {func(x tt) tt { return passes.Repeat(x, 1, 0, func(y tt) tt { return y }) }, "no call on the operand of its body"},
		"repeated elsewhere":  {func(x, z tt) tt { return passes.Repeat(x, 1, 0, func(y tt) tt { return z.Neg() }) }, "no call on the operand of its body"},
		"repeated from where": {func(x tt) tt { return passes.Repeat(x, 0, 0, neg) }, "match everything"},
		"repeated backwards":  {func(x tt) tt { return passes.Repeat(x, 3, 2, neg) }, "Repeat from 3 to 2 times"},
		"named twice":         {func(x tt) tt { return passes.Named("a", passes.Named("a", x.Neg()).Exp()) }, `the name "a" is given to %neg and %exp`},
		"named many times": {func(x tt) tt {
			return passes.Repeat(x, 1, 0, func(y tt) tt { return passes.Named("a", y.Neg()).Abs() })
		}, `the name "a" is within a repetition`},
		"leaked": {func(x tt) tt {
			var in tt
			out := passes.Repeat(x, 1, 0, func(y tt) tt { in = y.Neg(); return in.Abs() })
			return out.Add(in)
		}, "which is repeated, outside of the repetition"},
		"no attribute":     {func(x tt) tt { return passes.Loose(x.Softmax(0), "width") }, `softmax has no attribute "width"`},
		"great rest":       {func(x tt) tt { return tensor.Cat([]tt{passes.Rest(-1)}, 0) }, "Rest(-1), expected 0 to 63"},
		"repeated results": {func(x tt) (tt, tt) { return passes.Repeat(x, 1, 0, neg), x.Exp() }, "several spellings and several results"},
		"anything":         {func(x tt) tt { return passes.Optional(x, neg) }, "match everything"},
	} {
		t.Run(name, func(t *testing.T) {
			rule := passes.Rewrite{Name: "bad", Doc: "d", Pattern: c.pattern, Build: func(_ *graph.Cursor, m *passes.Match) []*graph.Node { return m.Roots }}
			_, err := run(passtest.Parse(t, small), passes.Options{}, passes.Rule(rule))
			require.ErrorIs(t, err, passes.BadRule)
			require.ErrorContains(t, err, c.msg)
		})
	}
}

// TestLoose_attributesAndSizes compares what is left open, and the sizes that a pattern
// mentions, apart.
func TestLoose_attributesAndSizes(t *testing.T) {
	rule := open(func(x tt) tt {
		return passes.Loose(x.Narrow(0, 0, x.Size(1)), "start").Neg()
	})
	rule.Types = []string{"f32[A,B]"}
	for attrs, why := range map[string]string{
		"{length=M}":          "",
		"{length=M, start=2}": "",
		"{length=N}":          "the attributes are {length=N}, the pattern has {length=M}",
		"{dim=1, length=M}":   "the attributes are {dim=1, length=M}, the pattern has {length=M}",
	} {
		m := passtest.Parse(t, `
graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %a = call_function[narrow](%x) `+attrs+`
  %b = call_function[neg](%a)
  return %b
}
`)
		got, err := passes.Explain(rule, m.Graph.Find("b"))
		require.NoError(t, err)
		require.Contains(t, got, why, attrs)
		require.Equal(t, why == "", got == "", attrs+": "+got)
	}
}

// TestMarkers_equalConstantsAreOne compares a constant that the pattern has twice by value in
// both places.
func TestMarkers_equalConstantsAreOne(t *testing.T) {
	half := tensor.Scalar(float32(0.5))
	for value, matches := range map[float32]bool{0.5: true, 0.25: false} {
		m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %c = get_attr[c] : f32[]
  %d = get_attr[d] : f32[]
  %y = call_function[mul](%x, %c) : f32[4]
  %z = call_function[add](%y, %d) : f32[4]
  return %z
}
param c : f32[]
param d : f32[]
`)
		for path, v := range map[string]float32{"c": 0.5, "d": value} {
			p := *m.Param(path)
			p.Value = tensor.Scalar(v).Array()
			m.SetParam(p)
		}
		why, err := passes.Explain(open(func(x tt) tt { return x.Mul(half).Add(half) }), m.Graph.Find("z"))
		require.NoError(t, err)
		require.Equal(t, matches, why == "", why)
	}
}
