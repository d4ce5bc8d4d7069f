package std_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/oracle"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// TestPyTorch compares every sample with what PyTorch computes; see package
// oracle for how the results were made.
func TestPyTorch(t *testing.T) {
	golden, err := oracle.Load("testdata/torch")
	require.NoError(t, err)
	compared := 0
	for _, o := range oracle.Ops() {
		t.Run(o.Name, func(t *testing.T) {
			var reasons []string
			n := 0
			for i, s := range o.Samples() {
				g, ok := golden[oracle.Key(o, i)]
				require.True(t, ok, "sample %d (%s) has no result: run internal/oracle", i, s.Name)
				require.Equal(t, oracle.Fingerprint(o, s), g.Fingerprint, "sample %d (%s) has changed: run internal/oracle", i, s.Name)
				if g.Reason != "" {
					reasons = append(reasons, s.Name+": "+g.Reason)
					continue
				}
				n++
				got, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
				require.NoError(t, err, s.Name)
				require.Len(t, got, len(g.Results), s.Name)
				for k := range got {
					if d := differ(o, got[k], g.Results[k]); d != "" {
						t.Errorf("%s %s, result %d: %s", s.Name, o.Codec().Print(s.Attrs), k, d)
					}
				}
			}
			compared += n
			require.GreaterOrEqual(t, 4*n, 2*len(o.Samples()), "too few samples have a result:\n%s", strings.Join(reasons, "\n"))
		})
	}
	require.Greater(t, compared, 3200)
}

// differ says how a result departs from PyTorch's beyond the operator's tolerance.
func differ(o *op.Op, got, want *array.Array) string {
	if got.DType() != want.DType() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		return fmt.Sprintf("%s%v, PyTorch has %s%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if !want.DType().IsFloat() {
		if !bytes.Equal(oracle.Bytes(got), oracle.Bytes(want)) {
			return "\n" + array.Format(got, 40) + "\nPyTorch has\n" + array.Format(want, 40)
		}
		return ""
	}
	rel, abs := o.Tol.Rel, o.Tol.Abs
	if rel == 0 && abs == 0 && o.Class != op.Movement {
		rel, abs = 1e-5, 1e-5
	}
	if o.Class != op.Movement {
		rel = max(rel, map[array.DType]float64{array.F16: 0x1p-10, array.BF16: 0x1p-7}[want.DType()])
	}
	for i := range want.Len() {
		g, w := array.Float64At(got, i), array.Float64At(want, i)
		if g == w || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		if !(math.Abs(g-w) <= abs+rel*math.Abs(w)) {
			return fmt.Sprintf("element %d is %v, PyTorch has %v", i, g, w)
		}
	}
	return ""
}
