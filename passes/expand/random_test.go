package expand_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/expand"
)

// calls are the operators of the table with their samples, in order.
func calls() (ops []*op.Op) {
	table := expand.Table()
	for _, o := range op.All() {
		if table[o] != nil && len(o.Samples()) > 0 {
			ops = append(ops, o)
		}
	}
	return ops
}

// disturbed is a copy of operands in which some floats are NaN, infinite, zeros of both
// signs or equal to others, and some integers equal to others.
func disturbed(t *rapid.T, in []*array.Array) []*array.Array {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -2}
	out := make([]*array.Array, len(in))
	for i, a := range in {
		if a == nil {
			continue
		}
		out[i] = array.Contiguous(array.Clone(a))
		if a.Len() == 0 || a.DType().IsNarrow() {
			continue
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at, from := rapid.IntRange(0, a.Len()-1).Draw(t, "at"), rapid.IntRange(0, a.Len()-1).Draw(t, "from")
			switch {
			case !a.DType().IsFloat():
				array.SetInt64At(out[i], at, array.Int64At(out[i], from))
			case rapid.Bool().Draw(t, "equal"):
				array.SetFloat64At(out[i], at, array.Float64At(out[i], from))
			default:
				array.SetFloat64At(out[i], at, special[rapid.IntRange(0, len(special)-1).Draw(t, "special")])
			}
		}
	}
	return out
}

// TestRandomValues draws operators and values for which laws of numbers do not hold.
func TestRandomValues(t *testing.T) {
	ops := calls()
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(ops).Draw(t, "operator")
		samples := o.Samples()
		s := samples[rapid.IntRange(0, len(samples)-1).Draw(t, "sample")]
		in := disturbed(t, s.In)
		want, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
		m, built := single(o, s.Attrs, in, typesOf(in))
		require.NoError(t, built)
		if len(expanded(t, m)) > 0 {
			return
		}
		got, ran := run(m, in)
		if err != nil {
			require.Error(t, ran, "%s %s: the kernel says %v\n%s", o.Name, s.Name, err, m)
			return
		}
		require.NoError(t, ran, "%s %s\n%s", o.Name, s.Name, m)
		if d := differ(o, s.Attrs, in, want, got); d != "" && !fxtest.Excused(o, s.Attrs, in) {
			t.Fatalf("%s %s %+v: %s\nof %v\n%s", o.Name, s.Name, s.Attrs, d, array.Format(in[0], 60), m)
		}
	})
}
