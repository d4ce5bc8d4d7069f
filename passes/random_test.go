package passes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	_ "github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/passes"
)

// exactRules change no result, and between them have every marker that needs no
// operator with many operands.
var exactRules = []passes.Pass{
	exact("even-neg", func(x tt) tt { return x }, func(x tt) tt { return passes.Repeat(x, 1, 0, func(y tt) tt { return y.Neg().Neg() }) }),
	exact("one-relu", func(x tt) tt { return x.Relu() }, func(x tt) tt { return passes.Repeat(x, 2, 3, func(y tt) tt { return y.Relu() }) }),
	exact("sub", func(x, y tt) tt { return x.Sub(y) }, func(x, y tt) tt { return passes.Commute(x.Add(y.Neg())) }),
	exact("abs", func(x tt) tt { return x.Abs() }, func(x tt) tt { return passes.AnyOf(x.Neg(), x.Abs()).Abs() }),
	exact("abs-square", func(x tt) tt { return x.Square() }, func(x tt) tt {
		y := passes.Optional(x, func(x tt) tt { return x.Abs() })
		return passes.If(y.Mul(y), passes.IsType("f32[N]"), passes.Uses(1, -1))
	}),
	exact("twice", func(x tt) tt { return x.Add(x) }, func(x tt) tt { return passes.Commute(x.Mul(passes.Constant(2))) }),
	passes.Rule(passes.Rewrite{Name: "both", Doc: "d", Pattern: func(x, y tt) (tt, tt) {
		z := x.Sub(y)
		return z.Neg(), passes.Named("relu", z.Relu())
	}, Replacement: func(x, y tt) (tt, tt) { return x.Sub(y).Neg(), x.Sub(y).Relu() }}),
}

func exact(name string, to any, pattern any) passes.Pass {
	return passes.Rule(passes.Rewrite{Name: name, Doc: "d", Pattern: pattern, Replacement: to})
}

// randomGraph has n calls on values made before, late ones more often.
func randomGraph(t *testing.T, r *rand.Rand, n int) *graph.Module {
	var b strings.Builder
	b.WriteString("graph g(%x: f32[4], %y: f32[4]) {\n")
	names := []string{"x", "y"}
	some := func() string { return names[max(0, len(names)-1-int(r.ExpFloat64()*2))] }
	for i := range n {
		name := fmt.Sprintf("a_%d", i)
		switch op := []string{"neg", "neg", "neg", "relu", "relu", "abs", "add", "mul", "sub", "twice"}[r.IntN(10)]; op {
		case "twice":
			fmt.Fprintf(&b, "  %%%s = call_function[mul](%%%s) {other=2} : f32[4]\n", name, some())
		case "add", "mul", "sub":
			fmt.Fprintf(&b, "  %%%s = call_function[%s](%%%s, %%%s) : f32[4]\n", name, op, some(), some())
		default:
			fmt.Fprintf(&b, "  %%%s = call_%s[%s](%%%s) : f32[4]\n", name, []string{"function", "method"}[r.IntN(2)], op, some())
		}
		names = append(names, name)
	}
	fmt.Fprintf(&b, "  return %%%s, %%%s, %%%s\n}\n", some(), some(), some())
	return passtest.Parse(t, b.String())
}

// TestRule_randomGraphs demands the same results, bit for bit, after each rule alone,
// after all of them again and again, and where they are ended at any rewrite.
func TestRule_randomGraphs(t *testing.T) {
	matches := map[string]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := randomGraph(t, r, 5+r.IntN(40))
		opts := passes.Options{Numeric: &passes.Numeric{Seed: seed, Rel: 1e-300, Abs: 1e-300}}
		for _, p := range exactRules {
			one := graph.Clone(m)
			report, err := run(one, opts, p)
			require.NoError(t, err, "seed %d:\n%s", seed, m)
			matches[p.Name] += report.Matches(p.Name)
		}
		all := passes.Rules("all", "d", 40, exactRules[:6]...)
		done := graph.Clone(m)
		report, err := run(done, opts, all)
		require.NoError(t, err, "seed %d:\n%s", seed, m)
		if k := report.Matches("all"); k > 0 {
			opts.StopAt = passes.StopAt{Pass: "all", Match: 1 + r.IntN(k)}
			part := graph.Clone(m)
			report, err = run(part, opts, all)
			require.NoError(t, err, "seed %d:\n%s", seed, m)
			require.Equal(t, opts.StopAt.Match, report.Matches("all"))
		}
		for n := range done.Graph.Nodes() {
			if o, made := passes.Made.Get(n); made {
				require.Equal(t, "all", o.Pass)
			} else if n.Opcode().IsCall() {
				require.NotNil(t, m.Graph.Find(n.Name()), "%s has no origin", n)
			}
		}
	}
	for _, p := range exactRules {
		require.Greater(t, matches[p.Name], 5, "%s: %v", p.Name, matches)
	}
}
