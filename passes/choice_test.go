package passes_test

import (
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// open is a rule whose patterns leave things open; it calls relu on what x is.
func open(patterns ...any) passes.Rewrite {
	return passes.Rewrite{Name: "open", Doc: "d", Pattern: patterns[0], Or: patterns[1:],
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			return []*graph.Node{c.Function(std.Relu, nil, m.Inputs[0])}
		}}
}

// choice is a pattern that leaves things open, the body of a graph of %x and %y,
// how often it matches there, and part of a reason why not, "" for none.
type choice struct {
	rule    passes.Rewrite
	body    string
	matches int
	why     string
}

func sum(x, y tt) tt { return passes.AnyOf(x.Add(y), y.Add(x)) }

var spellings = map[string]choice{
	"either order": {open(func(x tt) tt { return sum(x, x.Neg()) }), `
  %n = call_function[neg](%x) : f32[4]
  %a = call_function[add](%n, %x) : f32[4]
  %m = call_function[neg](%a) : f32[4]
  %b = call_function[add](%a, %m) : f32[4]
  return %b`, 2, ""},
	// The first order binds %y to the parameter z, which only then turns out to be
	// the value that exp wants elsewhere.
	"back to an earlier choice": {open(func(x, z tt) tt { return sum(x, z).Mul(z.Exp()) }), `
  %a = call_function[add](%y, %x) : f32[4]
  %e = call_function[exp](%y) : f32[4]
  %b = call_function[mul](%a, %e) : f32[4]
  return %b`, 1, ""},
	"a part that is there": {open(func(x, z tt) tt { return passes.AnyOf(x.Add(z), x).Neg() }), `
  %a = call_function[add](%x, %y) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b`, 1, ""},
	"a part that is missing": {open(func(x, z tt) tt { return passes.AnyOf(x.Exp().Add(z), x.Exp()).Neg() }), `
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b`, 1, ""},
	"several first results": {open(func(x tt) tt { return passes.AnyOf(x.Exp().Neg(), passes.Loose(x.Exp().Abs())) }), `
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[abs](%a) : f32[4]
  %c = call_function[exp](%b) : f32[4]
  %d = call_function[neg](%c) : f32[4]
  return %d`, 2, ""},
	"none of them": {open(func(x tt) tt { return passes.AnyOf(x.Exp(), x.Abs()).Neg() }), `
  %a = call_function[relu](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b`, 0, "matched 1 of 2: at %a: is relu, the pattern has exp"},
	"one value in both places": {open(func(x tt) tt {
		y := passes.AnyOf(x.Exp(), x.Abs())
		return y.Mul(y)
	}), `
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[abs](%x) : f32[4]
  %c = call_function[mul](%a, %b) : f32[4]
  return %c`, 0, "at %b: the pattern has the same value as %a here"},
	"larger patterns first": {open(func(x, z tt) tt { return x.Exp().Add(z) }, func(x, z tt) tt { return x.Exp() }), `
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[add](%a, %y) : f32[4]
  %c = call_function[exp](%b) : f32[4]
  return %c`, 2, ""},
}

var attributes = map[string]choice{
	"any attributes": {open(func(x tt) tt { return passes.Loose(x.Softmax(0)).Neg() }), `
  %a = call_function[softmax](%x) {dim=-1} : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b`, 1, ""},
	"any attributes of several results": {open(func(x tt) tt {
		values, _ := x.MaxDim(0)
		return passes.Loose(values).Neg()
	}), `
  %a = call_function[max_dim](%x) {dim=-1, keep_dim=true} : (f32[1], i64[1])
  %v = call_function[getitem](%a) : f32[1]
  %b = call_function[neg](%v) : f32[1]
  return %b`, 1, ""},
	"any number": {open(func(x tt) tt { return x.MulScalar(passes.Number(0)).AddScalar(passes.Number(1)) }), `
  %a = call_function[mul](%x) {other=2.5} : f32[4]
  %b = call_function[add](%a) {other=-3} : f32[4]
  return %b`, 1, ""},
	"one number in both places": {open(func(x tt) tt { return x.MulScalar(passes.Number(0)).AddScalar(passes.Number(0)) }), `
  %a = call_function[mul](%x) {other=2} : f32[4]
  %b = call_function[add](%a) {other=2.0} : f32[4]
  %c = call_function[mul](%b) {other=2} : f32[4]
  %d = call_function[add](%c) {other=3} : f32[4]
  return %d`, 1, "at %c: the pattern has the same number as 3 here"},
	"no number": {open(func(x tt) tt { return x.MulScalar(passes.Number(0)) }), `
  %a = call_function[mul](%x, %y) : f32[4]
  %b = call_function[mul](%a) {other=nan} : f32[4]
  return %b`, 0, ""},
	"a constant for a number": {open(func(x tt) tt { return x.Exp().MulScalar(passes.Number(0)) }), `
  %c = get_attr[c] : f32[]
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[mul](%a, %c) : f32[4]
  return %b`, 1, ""},
	"a buffer that is written for a number": {open(func(x tt) tt { return x.Exp().MulScalar(passes.Number(0)) }), `
  %c = get_attr[e] : f32[]
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[mul](%a, %c) : f32[4]
  %w = call_function[assign](%c, %c) : f32[]
  return %b`, 0, ""},
	"a constant of another type": {open(func(x tt) tt { return x.Exp().MulScalar(passes.Number(0)) }), `
  %c = get_attr[d] : f64[1]
  %a = call_function[exp](%x) : f32[4]
  %b = call_function[mul](%a, %c) : f64[4]
  return %b`, 0, ""},
	"attributes beside numbers": {open(func(x tt) tt { return x.DivScalar(passes.Number(0)).Neg() }), `
  %a = call_function[div](%x) {other=2, reverse=true} : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b`, 0, "at %a: the attributes are {other=2, reverse=true}, the pattern has {other=2}"},
}

// TestChoices applies rules to graphs.
func TestChoices(t *testing.T) {
	all := maps.Clone(spellings)
	maps.Copy(all, attributes)
	maps.Copy(all, markers)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			m := passtest.Parse(t, "graph g(%x: f32[4], %y: f32[4]) {"+c.body+"\n}\nparam c : f32[]\nparam d : f64[1]\nparam e : f32[] buffer\n")
			before := graph.Clone(m)
			c.rule.Build = func(cur *graph.Cursor, m *passes.Match) []*graph.Node {
				n := cur.Function(std.Relu, nil, m.Inputs[0])
				if m.Roots[0].Type().Dim(0).Is(1) {
					n = cur.Function(std.Amax, tensor.ReduceAttrs{Dim: tensor.Ints(0), KeepDim: true}, n)
				}
				return []*graph.Node{n}
			}
			r, err := run(m, passes.Options{}, passes.Rule(c.rule))
			require.NoError(t, err)
			require.Equal(t, c.matches, r.Passes[0].Matches, r.Explain())
			if c.why != "" {
				require.Contains(t, r.Explain(), c.why)
			}
			if c.matches == 0 {
				require.Equal(t, before.String(), m.String())
			}
		})
	}
}

// TestMatch_inputsNumbersAndData looks at inputs, numbers and data of a match.
func TestMatch_inputsNumbersAndData(t *testing.T) {
	var got []string
	rule := open(func(x, z tt) tt {
		return passes.AnyOf(x.MulScalar(passes.Number(2)).Add(z), x.Exp().MulScalar(passes.Number(1)))
	})
	rule.Where = func(m *passes.Match) string {
		m.Data = fmt.Sprint(m.Inputs, m.Numbers, len(m.Nodes))
		return ""
	}
	rule.Build = func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		got = append(got, m.Data.(string))
		return []*graph.Node{c.Function(std.Relu, nil, m.Inputs[0])}
	}
	m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %a = call_function[mul](%x) {other=4} : f32[4]
  %b = call_function[add](%a, %y) : f32[4]
  %c = call_function[exp](%b) : f32[4]
  %d = call_function[mul](%c) {other=0.5} : f32[4]
  return %d
}
`)
	_, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, []string{"[%x %y] [NaN NaN 4] 2", "[%relu _] [NaN 0.5 NaN] 2"}, got)
}

// TestRule_removesNodesThatOnlyTheMatchUsed keeps effects, what others use, and inputs.
func TestRule_removesNodesThatOnlyTheMatchUsed(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %w = get_attr[w] : f32[4]
  %a = call_function[exp](%w) : f32[4]
  %b = call_function[abs](%a) : f32[4]
  %c = call_function[exp](%y) : f32[4]
  %d = call_function[mul](%x, %b) : f32[4]
  %e = call_function[mul](%d, %c) : f32[4]
  return %e, %c
}
param w : f32[4]
`)
	rule := passes.Rewrite{Name: "first", Doc: "d", Pattern: func(x, y, z tt) tt { return x.Mul(y).Mul(z) },
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			return []*graph.Node{c.Function(std.Relu, nil, m.Inputs[0])}
		}}
	_, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %c = call_function[exp](%y) : f32[4]
  %relu = call_function[relu](%x) : f32[4]
  return %relu, %c
}
param w : f32[4]
`).String(), m.String())
}

// TestMarkers_outsideOfPatterns are what their first operand is.
func TestMarkers_outsideOfPatterns(t *testing.T) {
	x, y := tensor.Scalar(float32(2)), tensor.Scalar(float32(3))
	require.Equal(t, 2.0, passes.AnyOf(x, y).Item())
	require.Equal(t, 3.0, passes.Loose(y).Item())
	require.True(t, math.IsNaN(passes.Number(3).Float64()))
	require.NotEqual(t, passes.Number(3), passes.Number(4))
}
