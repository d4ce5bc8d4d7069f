package passes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// counter counts how often a search gets to a part of a pattern.
type counter int

func (c *counter) check(*graph.Node) string { *c++; return "" }

// chainOf returns a graph with n calls of an operator one after the other.
func chainOf(t *testing.T, name string, n int) *graph.Module {
	var b strings.Builder
	b.WriteString("graph g(%x: f32[4]) {\n  %a_0 = call_function[exp](%x) : f32[4]\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%a_%d = call_function[%s](%%a_%d) : f32[4]\n", i+1, name, i)
	}
	fmt.Fprintf(&b, "  return %%a_%d\n}\n", n)
	return passtest.Parse(t, b.String())
}

// grown runs a rule on graphs of 1,000 and of 10,000 nodes and demands that ten times
// the nodes take ten times the steps.
func grown(t *testing.T, rule func(c *counter) passes.Rewrite, make func(n int) *graph.Module) (reports [2]*passes.Report) {
	t.Helper()
	var counts [2]counter
	for i, n := range []int{1000, 10000} {
		r, err := run(make(n), passes.Options{}, passes.Rule(rule(&counts[i])))
		require.NoError(t, err)
		reports[i] = r
	}
	require.Positive(t, counts[0])
	require.LessOrEqual(t, float64(counts[1]), 11*float64(counts[0]))
	return reports
}

// manySpellings has two spellings at each of twenty levels above base.
func manySpellings(base tt) tt {
	for range 20 {
		base = passes.AnyOf(base.Neg(), base.Neg())
	}
	return base
}

// A million ways end at the same place: what cannot match is looked up.
func TestRule_manySpellingsAreLookedUp(t *testing.T) {
	m := chainOf(t, "neg", 10000)
	r, err := run(m, passes.Options{}, passes.Rule(open(func(x tt) tt { return manySpellings(x.Tanh()) })))
	require.NoError(t, err)
	require.Zero(t, r.Matches("open"))
	require.Contains(t, r.Explain(), "is neg, the pattern has tanh")
	require.NotContains(t, r.Explain(), "given up")
}

// A check that refuses is not looked up: it may look at anything.
func TestRule_givesUpManySpellings(t *testing.T) {
	r := grown(t, func(c *counter) passes.Rewrite {
		return open(func(x tt) tt {
			return manySpellings(passes.If(x, func(*graph.Node) string { *c++; return "is refused" }))
		})
	}, func(n int) *graph.Module { return chainOf(t, "neg", n) })
	require.Zero(t, r[1].Matches("open"))
	require.Contains(t, r[1].Explain(), "the search was given up after ")
	require.Contains(t, r[1].Explain(), "is refused")
}

// A tree of sums, in either order each, of one value: where the last leaf is another
// one no order helps, and the search is given up, with a reason.
func TestRule_givesUpManyOrders(t *testing.T) {
	var tree func(x tt, depth int, c *counter) tt
	tree = func(x tt, depth int, c *counter) tt {
		if depth == 0 {
			return passes.If(x.Neg(), c.check)
		}
		return passes.Commute(tree(x, depth-1, c).Add(tree(x, depth-1, c)))
	}
	r := grown(t, func(c *counter) passes.Rewrite {
		return open(func(x tt) tt { return tree(x, 4, c) })
	}, func(n int) *graph.Module {
		var b strings.Builder
		b.WriteString("graph g(%x: f32[4], %y: f32[4]) {\n")
		var sums []string
		for k := range n / 31 {
			var level []string
			for i := range 16 {
				of := "x"
				if i == 15 {
					of = "y"
				}
				fmt.Fprintf(&b, "  %%n_%d_%d = call_function[neg](%%%s) : f32[4]\n", k, i, of)
				level = append(level, fmt.Sprintf("%%n_%d_%d", k, i))
			}
			for d := 0; len(level) > 1; d++ {
				var next []string
				for i := 0; i < len(level); i += 2 {
					fmt.Fprintf(&b, "  %%s_%d_%d_%d = call_function[add](%s, %s) : f32[4]\n", k, d, i, level[i], level[i+1])
					next = append(next, fmt.Sprintf("%%s_%d_%d_%d", k, d, i))
				}
				level = next
			}
			sums = append(sums, level[0])
		}
		return passtest.Parse(t, b.String()+"  return "+strings.Join(sums, ", ")+"\n}\n")
	})
	require.Zero(t, r[1].Matches("open"))
	require.Contains(t, r[0].Explain(), "the search was given up after ")
	require.Contains(t, r[0].Explain(), "at %y: the pattern has the same value as %x here")
}

// A repetition takes all there is, in one match, without a look at each shorter one.
func TestRepetition_takesAll(t *testing.T) {
	take := func(base func(x tt) tt) func(c *counter) passes.Rewrite {
		return func(c *counter) passes.Rewrite {
			return open(func(x tt) tt {
				return passes.Repeat(base(x), 2, 0, func(y tt) tt { return passes.If(y.Neg(), c.check) })
			})
		}
	}
	for name, c := range map[string]struct {
		base    func(x tt) tt
		matches int
	}{"value": {func(x tt) tt { return x }, 1}, "call": {func(x tt) tt { return x.Exp() }, 1}, "another call": {func(x tt) tt { return x.Tanh() }, 0}} {
		t.Run(name, func(t *testing.T) {
			r := grown(t, take(c.base), func(n int) *graph.Module { return chainOf(t, "neg", n) })
			require.Equal(t, c.matches, r[1].Matches("open"))
			if c.matches > 0 {
				require.Equal(t, 9999, r[1].Passes[0].NodesBefore-r[1].Passes[0].NodesAfter-map[string]int{"value": 0, "call": 1}[name])
			}
		})
	}
}

// A value with many users has them tried in turn, up to the bound.
func TestRule_manyUsersTakeLinearTime(t *testing.T) {
	const n = 10000
	var c counter
	rule := passes.Rewrite{Name: "open", Doc: "d", Pattern: func(x tt) (tt, tt) { return x.Neg(), passes.If(x.Relu(), c.check).Exp() },
		Replacement: func(x tt) (tt, tt) { return x, x }}
	var b strings.Builder
	var all []string
	b.WriteString("graph g(%x: f32[4]) {\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%a_%d = call_function[%s](%%x) : f32[4]\n", i, []string{"neg", "relu"}[i%2])
		all = append(all, fmt.Sprintf("%%a_%d", i))
	}
	r, err := run(passtest.Parse(t, b.String()+"  return "+strings.Join(all, ", ")+"\n}\n"), passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Contains(t, r.Explain(), "the search was given up after ")
	require.Less(t, int(c), 1100*n/2)
}

// Matches that touch: the result of one is the operand of the next, and of the output.
func TestMatchesThatTouch(t *testing.T) {
	rule := passes.Rewrite{Name: "touch", Doc: "d", Pattern: func(x tt) tt { return x.Neg().Abs() }, Replacement: func(x tt) tt { return x.Abs() }}
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[abs](%a) : f32[4]
  %c = call_function[neg](%b) : f32[4]
  %d = call_function[abs](%c) : f32[4]
  %e = call_function[neg](%d) : f32[4]
  %f = call_function[abs](%e) : f32[4]
  return %f, %f, %d, %x
}
`)
	before := graph.Clone(m)
	r, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, 3, r.Matches("touch"), r.Explain())
	require.Equal(t, 5, m.Graph.Len())
	passtest.Same(t, before, m)
}

// Every node of a graph may be one match.
func TestRule_matchesAWholeGraph(t *testing.T) {
	rule := passes.Rewrite{Name: "all", Doc: "d", Pattern: func(x, y tt) (tt, tt) {
		s := x.Add(y)
		return s.Exp(), s.Neg()
	}, Replacement: func(x, y tt) (tt, tt) { return y, x }}
	m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %s = call_function[add](%x, %y) : f32[4]
  %a = call_function[neg](%s) : f32[4]
  %b = call_function[exp](%s) : f32[4]
  return %a, %b, %a
}
`)
	_, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Contains(t, m.String(), "return %x, %y, %x")
	require.Equal(t, 3, m.Graph.Len())
}

// Repetitions in the bodies of control flow, where a body returns what it is given.
func TestRepetition_inRegions(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%p: bool[], %x: f32[4]) {
  %c = call_function[cond](%p, %x) : (f32[4]) {
    region a(%u: f32[4]) {
      %n = call_function[neg](%u) : f32[4]
      %o = call_function[neg](%n) : f32[4]
      %q = call_function[neg](%o) : f32[4]
      %r = call_function[neg](%q) : f32[4]
      return (%r)
    }
    region b(%u: f32[4]) {
      %n = call_function[neg](%u) : f32[4]
      return (%n)
    }
  }
  %y = call_function[getitem](%c) : f32[4]
  %z = call_function[neg](%y) : f32[4]
  return %z
}
`)
	before := graph.Clone(m)
	rule := passes.Rewrite{Name: "even", Doc: "d", Replacement: func(x tt) tt { return x },
		Pattern: func(x tt) tt { return passes.Repeat(x, 1, 0, func(y tt) tt { return y.Neg().Neg() }) }}
	r, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("even"), r.Explain())
	require.NotContains(t, m.String(), "%r =")
	passtest.Same(t, before, m)
}

// A repetition within a repetition, and one after the other.
func TestRepetition_ofRepetitions(t *testing.T) {
	rule := open(func(x tt) tt {
		inner := passes.Repeat(x, 2, 2, func(y tt) tt {
			return passes.Repeat(y, 0, 0, neg).Exp()
		})
		return passes.Repeat(inner, 1, 0, func(y tt) tt { return y.Abs() })
	})
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %n = call_function[neg](%x) : f32[4]
  %o = call_function[neg](%n) : f32[4]
  %e = call_function[exp](%o) : f32[4]
  %f = call_function[exp](%e) : f32[4]
  %a = call_function[abs](%f) : f32[4]
  %b = call_function[abs](%a) : f32[4]
  return %b
}
`)
	var names []string
	rule.Where = func(m *passes.Match) string {
		names = names[:0]
		for _, n := range m.Nodes {
			names = append(names, n.Name())
		}
		return ""
	}
	r, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("open"), r.Explain())
	require.ElementsMatch(t, []string{"n", "o", "e", "f", "a", "b"}, names)
	require.Equal(t, 3, m.Graph.Len())
}

// What Build returns is looked at before anything changes.
func TestBuildThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		build func(c *graph.Cursor, m *passes.Match) []*graph.Node
		msg   string
	}{
		"nil":    {func(*graph.Cursor, *passes.Match) []*graph.Node { return []*graph.Node{nil} }, "Build returned no value of the graph for result 0"},
		"behind": {func(c *graph.Cursor, m *passes.Match) []*graph.Node { return []*graph.Node{m.Roots[0].Next()} }, "which is computed after the match"},
		"erased": {func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			n := c.Function(std.Neg, nil, m.Inputs[0])
			_ = n.Graph().Erase(n)
			return []*graph.Node{n}
		}, "Build returned no value of the graph for result 0"},
	} {
		t.Run(name, func(t *testing.T) {
			rule := open(func(x tt) tt { return x.Neg() })
			rule.Build = c.build
			m := passtest.Parse(t, "graph g(%x: f32[4]) {\n  %a = call_function[neg](%x) : f32[4]\n  %b = call_function[exp](%a) : f32[4]\n  return %b\n}\n")
			_, err := run(m, passes.Options{}, passes.Rule(rule))
			require.ErrorIs(t, err, passes.BadRule)
			require.ErrorContains(t, err, c.msg)
		})
	}
	rule := open(func(x tt) tt { return x.Neg() })
	rule.Build = func(_ *graph.Cursor, m *passes.Match) []*graph.Node { return m.Roots }
	m := chainOf(t, "neg", 2)
	before := m.String()
	_, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, before, m.String(), "a result that stands for itself")
}
