package simplify_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// TestNoBitChanges runs passes that promise the same bits on random graphs.
func TestNoBitChanges(t *testing.T) {
	for _, p := range []passes.Pass{simplify.Identity, simplify.Algebra, simplify.Normalise} {
		matches, graphs := 0, 0
		t.Run(p.Name, rapid.MakeCheck(func(t *rapid.T) {
			m := fxtest.RandomGraph(t)
			graphs++
			in, err := passes.Inputs(m.Graph, nil, rapid.Uint64().Draw(t, "seed"))
			require.NoError(t, err)
			special(in)
			before := results(t, m, in)
			done := graph.Clone(m)
			r, err := passes.Run(context.Background(), done, []passes.Pass{p}, passes.Options{})
			require.NoError(t, err, m.String())
			matches += r.Matches(p.Name)
			if d := fxtest.SameArrays(before, results(t, done, in)); d != "" {
				t.Fatalf("%s\n%s\nbecame\n%s", d, m, done)
			}
			r, err = passes.Run(context.Background(), done, []passes.Pass{p}, passes.Options{})
			require.NoError(t, err)
			require.Zero(t, r.Matches(p.Name), "a second run of %s changes\n%s", p.Name, done)
		}))
		if !testing.Short() { // with few graphs, whether one of them suits is chance
			require.True(t, matches > 0 || graphs == 0, p.Name)
		}
	}
}

var negZero, inf = math.Copysign(0, -1), math.Inf(1)

// special puts numbers among the inputs for which laws of numbers do not hold.
func special(in []*array.Array) {
	for _, a := range in {
		for i, x := range []float64{0, negZero, inf, -inf} {
			if i < a.Len() && a.DType().IsFloat() {
				array.SetFloat64At(a, a.Len()-1-i, x)
			}
		}
	}
}

func results(t require.TestingT, m *graph.Module, in []*array.Array) []*array.Array {
	out, err := (&interp.Interpreter{State: interp.NewState(graph.Clone(m))}).RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

// A user's operator is removed like a built-in one when its expression says so.
var _ = op.Define("nothing", op.Spec[op.None]{
	Doc: "nothing is x.", In: op.Args("x"),
	Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value { return []expr.Value{b.Neg(b.Neg(x[0]))} },
})
