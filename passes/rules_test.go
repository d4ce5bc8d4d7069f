package passes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// relus counts, in a rule that never matches, the nodes that are looked at.
func relus(name string, c *counter) passes.Pass {
	return passes.Rule(passes.Rewrite{Name: name, Doc: "d", Pattern: func(x tt) tt { return passes.If(x.Relu(), func(*graph.Node) string { *c++; return "no" }) },
		Replacement: func(x tt) tt { return x }})
}

func TestRules_lookAtNodesOnce(t *testing.T) {
	var a, b counter
	m := chainOf(t, "relu", 100)
	r, err := run(m, passes.Options{}, passes.Rules("two", "d", 5, relus("a", &a), relus("b", &b)))
	require.NoError(t, err)
	require.Zero(t, r.Matches("two"))
	require.Equal(t, []counter{100, 100}, []counter{a, b})
	require.Contains(t, r.Explain(), "%a_1 left as it is: matched 1 of 1: at %a_1: no")
}

// At a node the rules are tried in turn; larger patterns of Or come everywhere before
// smaller ones, of all rules.
func TestRulesComeInTurn(t *testing.T) {
	becomes := func(name string, to func(x tt) tt, patterns ...any) passes.Pass {
		return passes.Rule(passes.Rewrite{Name: name, Doc: "d", Pattern: patterns[0], Or: patterns[1:], Replacement: to})
	}
	abs := func(x tt) tt { return x.Abs() }
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[exp](%a) : f32[4]
  %c = call_function[neg](%b) : f32[4]
  return %c
}
`)
	r, err := run(m, passes.Options{}, passes.Rules("both", "d", 5,
		becomes("first", abs, func(x tt) tt { return x.Neg().Exp() }, neg), becomes("second", abs, neg)))
	require.NoError(t, err)
	// The first stage meets %a with the second rule before %b with the first one.
	require.Equal(t, []string{"rule second", "rule second"}, []string{r.Passes[0].Log[0].Why, r.Passes[0].Log[1].Why}, r.Explain())
	require.Equal(t, 2, r.Matches("both"))
	require.Equal(t, "second", r.Passes[0].Log[0].Rule)
}

// A pass that somebody has put around a rule is not passed by.
func TestRules_runTheWrapperOfARule(t *testing.T) {
	p := passes.Rule(doubleNeg)
	inner, ran := p.Run, 0
	p.Run = func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		ran++
		return inner(c, g)
	}
	m := chainOf(t, "neg", 8)
	r, err := run(m, passes.Options{}, passes.Rules("around", "d", 5, p, passes.Rule(doubleNeg)))
	require.NoError(t, err)
	require.Equal(t, 4, r.Matches("around"))
	require.Equal(t, 2, ran)
}

func TestPass_explainsItsRules(t *testing.T) {
	m := chainOf(t, "neg", 1)
	p := passes.Rules("both", "d", 5, passes.Rule(doubleNeg), passes.Rule(linear))
	reasons, err := p.Explain(m.Graph.Find("a_1"))
	require.NoError(t, err)
	require.Len(t, reasons, 2)
	require.Equal(t, "double-neg", reasons[0].Rule)
	require.Equal(t, "matched 1 of 2: at %a_0: is exp, the pattern has neg", reasons[0].Why)
	require.Equal(t, "a_0", reasons[0].At.Name())
	require.Len(t, reasons[0].Nodes, 1)
	require.Equal(t, "a_1", reasons[0].Nodes[0].Name())
	reasons, err = replace("p", std.Relu, std.Neg).Explain(m.Graph.Find("a_1"))
	require.NoError(t, err)
	require.Empty(t, reasons)
	_, err = passes.Rule(passes.Rewrite{Name: "bad"}).Explain(m.Graph.Find("a_1"))
	require.ErrorIs(t, err, passes.BadRule)
}

// What a rewrite knows better is told to what is computed from it.
func TestTypes_afterARewrite(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[neg](%x) : f32[N,4]
  %b = call_function[neg](%a) : f32[N,4]
  %c = call_function[exp](%b) : f32[N,4]
  %d = call_function[transpose](%c) {dim1=1} : f32[4,N]
  return %d
}
`)
	for _, name := range []string{"b", "c", "d"} {
		m.Graph.Find(name).SetType(shape.Unranked(array.F32))
	}
	require.NoError(t, m.Graph.Output().Retype())
	_, err := run(m, passes.Options{}, passes.Rule(doubleNeg))
	require.NoError(t, err)
	require.Equal(t, "f32[4,N]", m.Graph.Find("d").Type().String())
	require.Equal(t, "f32[4,N]", m.Graph.Output().Arg(0).Type().String())
}

// Nodes say which rewrite made them, and from what.
func TestOrigins_ofNodes(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %a = call_method[neg](%x) : f32[4] at "net.go:7"
  %b = call_function[neg](%a) : f32[4] at "net.go:8"
  %c = call_function[relu](%b) : f32[4] at "net.go:9"
  %d = call_function[exp](%c) : f32[4] at "net.go:10"
  return %d
}
`)
	positive := passes.Rule(passes.Rewrite{Name: "positive", Doc: "d", Pattern: func(x tt) tt { return x.Neg().Neg().Relu() },
		Replacement: func(x tt) tt { return x.Abs().Abs().Relu() }})
	gone := passes.Rule(passes.Rewrite{Name: "gone", Doc: "d", Pattern: func(x tt) tt { return x.Relu().Exp() }, Replacement: func(x tt) tt { return x.Exp() }})
	_, err := run(m, passes.Options{}, positive, gone)
	require.NoError(t, err)
	exp, abs := m.Graph.Output().Arg(0), m.Graph.Output().Arg(0).Arg(0)
	o, ok := passes.Made.Get(exp)
	require.True(t, ok)
	require.Equal(t, "rewrite 1 of pass gone, rule gone, from %relu at net.go:9, %d at net.go:10", o.String())
	from := o.From[0].Made
	require.Equal(t, "rewrite 1 of pass positive, rule positive, from %a at net.go:7, %b at net.go:8, %c at net.go:9", from.String())
	o, ok = passes.Made.Get(abs)
	require.True(t, ok)
	require.Equal(t, from, o, "what a replacement is made of has its origin")
	_, ok = passes.Made.Get(m.Graph.Find("x"))
	require.False(t, ok, "what was captured has none")
}

// Passes without rules have origins as well, those that report nothing by name.
func TestOrigins_otherPasses(t *testing.T) {
	m := passtest.Parse(t, small)
	quiet := passes.Pass{Name: "quiet", Run: func(_ *passes.Ctx, g *graph.Graph) (bool, error) {
		n := g.Output().Arg(0)
		g.Output().SetArg(0, g.After(n).Function(std.Neg, nil, n))
		return true, nil
	}}
	inPlace := passes.EachNode("in-place", "d", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() == std.Neg {
			c.Rewrote(n, nil, "looked at")
		}
		return nil
	})
	_, err := run(m, passes.Options{}, replace("p", std.Relu, std.Gelu), quiet, inPlace)
	require.NoError(t, err)
	last := m.Graph.Output().Arg(0)
	o, _ := passes.Made.Get(last)
	require.Equal(t, "rewrite 2 of pass in-place, looked at, from %neg", o.String())
	require.Equal(t, "pass quiet", o.From[0].Made.String())
	for n := range m.Graph.All() {
		if n.Op() == std.Gelu {
			o, _ = passes.Made.Get(n)
		}
	}
	require.Equal(t, "p", o.Pass)
}

// StopAt keeps what was done up to a rewrite.
func TestStopAtARewrite(t *testing.T) {
	for match, left := range map[int]int{0: 9, 1: 7, 3: 3, 4: 1, 5: 1} {
		m := chainOf(t, "neg", 8)
		before := graph.Clone(m)
		after := false
		r, err := run(m, passes.Options{StopAt: passes.StopAt{Pass: "double-neg", Match: match}, Expect: []passes.Expectation{passes.Expect("double-neg", 4)}},
			passes.Rule(doubleNeg), passes.EachNode("after", "d", func(*passes.Ctx, *graph.Node) error { after = true; return nil }))
		require.NoError(t, err)
		require.Equal(t, left+2, m.Graph.Len())
		require.Equal(t, min(match, 4), r.Matches("double-neg"))
		require.Equal(t, match > 4, after, "the pipeline ends with the pass")
		passtest.Same(t, before, m)
	}
}

// A pass that occurs twice is counted on, one whose rewrites belong together is not parted.
func TestStopAtCountsOn(t *testing.T) {
	stop := func(match int, list ...passes.Pass) *passes.Report {
		m := chainOf(t, "neg", 8)
		r, err := run(m, passes.Options{StopAt: passes.StopAt{Pass: "p", Match: match}}, list...)
		require.NoError(t, err)
		return r
	}
	one := passes.Pass{Name: "p", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		c.Rewrote(g.First(), nil, "once")
		c.Rewrote(g.First(), nil, "twice")
		return true, nil
	}}
	require.Equal(t, 3, stop(3, one, one).Matches("p"))
	require.Equal(t, 4, stop(4, one, one, one).Matches("p"))
	one.Whole = true
	require.Equal(t, 4, stop(3, one, one, one).Matches("p"))
	require.Empty(t, stop(0, one).Passes)
}

// A pass may keep what it is told, and still be ended.
func TestStopAt_isNoErrorOfThePass(t *testing.T) {
	m := chainOf(t, "neg", 4)
	r, err := run(m, passes.Options{StopAt: passes.StopAt{Pass: "erase", Match: 1}},
		passes.EachNode("erase", "d", func(c *passes.Ctx, n *graph.Node) error {
			if n.Op() != std.Neg {
				return nil
			}
			if err := c.Replace(n, n.Arg(0), "an example"); err != nil {
				return diag.Bug("it is not replaced")
			}
			return nil
		}))
	require.NoError(t, err)
	require.True(t, r.Passes[0].Stopped)
	require.True(t, r.Passes[0].Changed)
	require.Equal(t, 5+1, m.Graph.Len())
}

func TestReport_memory(t *testing.T) {
	m := chainOf(t, "neg", 4)
	var keep [][]byte
	r, err := run(m, passes.Options{}, passes.EachNode("hungry", "d", func(*passes.Ctx, *graph.Node) error {
		keep = append(keep, make([]byte, 1<<20))
		return nil
	}))
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Passes[0].Allocated, uint64(len(keep)<<20))
	require.Regexp(t, `\d MB`, r.String())
}
