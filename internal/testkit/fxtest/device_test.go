package fxtest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// TestIntegersShow: where results may jump, tolerances are less than the effect of the smallest
// wrong integer product, that of a weight one off.
func TestIntegersShow(t *testing.T) {
	for _, o := range op.All() {
		if o.Tol == (op.Tolerance{}) {
			continue
		}
		tried, shown := 0, 0
		for _, s := range o.Samples() {
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			for k, a := range s.In {
				if s.In[0].Len() == 0 || s.Name == "one step" || a == nil || a.DType() != array.I8 {
					continue // nothing, or a state of zeros, multiplies the weights
				}
				for at := 0; at < a.Len(); at += 1 + a.Len()/8 {
					in := slices.Clone(s.In)
					in[k] = array.Contiguous(array.Clone(a))
					v := array.Int64At(a, at)
					if v++; v > 127 {
						v -= 2
					}
					array.SetInt64At(in[k], at, v)
					got, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
					require.NoError(t, err)
					tried++
					for i := range want {
						if fxtest.Beyond(o, s.Attrs, s.In, want[i], got[i]) != "" {
							shown++
							break
						}
					}
				}
			}
		}
		require.Greater(t, tried, 100, o.Name)
		require.GreaterOrEqual(t, shown, tried*9/10, "%s: %d of %d show", o.Name, shown, tried)
	}
}
