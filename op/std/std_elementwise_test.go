package std

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// checkSamples evaluates every sample, checks the inferred type and passes the
// result on to compare.
func checkSamples(t *testing.T, o *op.Op, compare func(t *testing.T, s op.Sample, out *array.Array)) {
	t.Helper()
	samples := o.Samples()
	require.GreaterOrEqual(t, len(samples), 8, o.Name)
	for i, s := range samples {
		t.Run(fmt.Sprintf("%s/%d %s", o.Name, i, s.Name), func(t *testing.T) {
			out, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			require.Len(t, out, 1)
			want, err := o.Type(nil, s.Attrs, typesOf(s.In))
			require.NoError(t, err)
			require.Equal(t, want.String(), shape.TypeOf(out[0]).String())
			checkSymbolic(t, o, s, want)
			checkUnknown(t, o, s, want)
			compare(t, s, out[0])
		})
	}
}

// checkSymbolic infers with the first dimension of every operand of the greatest
// rank replaced by a symbol, and binds it.
func checkSymbolic(t *testing.T, o *op.Op, s op.Sample, want shape.Type) {
	in := typesOf(s.In)
	rank, n := 0, 0
	for _, x := range in {
		if x.Rank() > rank {
			rank, n = x.Rank(), 0
		}
		if x.Rank() == rank && rank > 0 {
			if d, _ := x.Dim(0).Int(); d != 1 {
				n = d
			}
		}
	}
	for i, x := range in {
		if d, ok := x.Dim(0).Int(); ok && x.Rank() == rank && rank > 0 && d == n {
			in[i] = x.WithDims(x.Dims().With(0, shape.Sym("N")))
		}
	}
	got, err := o.Type(&op.Infer{}, s.Attrs, in)
	require.NoError(t, err)
	require.Equal(t, want.String(), got.Bind(func(string) shape.Dim { return shape.Const(n) }).String())
}

// checkUnknown requires that less knowledge of the operands is no error and says
// nothing wrong.
func checkUnknown(t *testing.T, o *op.Op, s op.Sample, want shape.Type) {
	for i := range s.In {
		if s.In[i] == nil {
			continue
		}
		for _, less := range []shape.Type{{}, shape.Unranked(array.Invalid), shape.Unranked(s.In[i].DType()),
			shape.TypeOf(s.In[i]).WithDType(array.Invalid)} {
			in := typesOf(s.In)
			in[i] = less
			got, err := o.Type(nil, s.Attrs, in)
			require.NoError(t, err, "operand %d is %s", i, less)
			if got.DType() != array.Invalid {
				require.Equal(t, want.DType(), got.DType(), "operand %d is %s", i, less)
			}
			if got.Ranked() && less.Ranked() {
				require.Equal(t, want.Dims().String(), got.Dims().String())
			}
		}
	}
}

// checkBad requires of every bad sample exactly its code.
func checkBad(t *testing.T, o *op.Op) {
	t.Helper()
	require.NotEmpty(t, o.BadSamples(), o.Name)
	for _, s := range o.BadSamples() {
		t.Run(o.Name+"/"+s.Name, func(t *testing.T) {
			_, err := o.Type(nil, s.Attrs, typesOf(s.In))
			require.Error(t, err)
			require.True(t, errors.Is(err, s.Code), "%v, expected code %s", err, s.Code)
			_, err = o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.ErrorIs(t, err, s.Code)
		})
	}
}

// requireNear compares element i of a float result with a float64 reference,
// converted to the result's type.
func requireNear(t *testing.T, want float64, out *array.Array, i int, msg string) {
	t.Helper()
	d := out.DType()
	got := array.Float64At(out, i)
	if d.IsInt() { // wraps around
		want = array.Float64At(array.Cast(array.Scalar(int64(want)), d), 0)
	} else {
		want = array.Float64At(array.Cast(array.Scalar(want), d), 0)
	}
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return
	}
	tol := map[array.DType]struct{ rel, abs float64 }{array.F32: {3e-6, 2e-6}, array.F16: {2e-3, 1e-4}, array.BF16: {1.6e-2, 1e-4},
		array.F64: {1e-13, 1e-13}}[d]
	require.LessOrEqual(t, math.Abs(got-want), tol.rel*math.Abs(want)+tol.abs, "%s: element %d is %v, expected %v", msg, i, got, want)
}

// spread returns a broadcast to the shape of out.
func spread(a, out *array.Array) *array.Array {
	return array.Contiguous(array.Expand(a, out.Shape()...))
}
