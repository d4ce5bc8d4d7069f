package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func TestTernary(t *testing.T) {
	for _, o := range []*op.Op{Lerp, Addcmul, Addcdiv} {
		checkBad(t, o)
		checkSamples(t, o, func(t *testing.T, s op.Sample, out *array.Array) {
			x, y := spread(s.In[0], out), spread(s.In[1], out)
			third, scale := op.Scalar{}, 1.0
			switch a := s.Attrs.(type) {
			case LerpAttrs:
				third = a.Weight
			case AddcAttrs:
				if a.Value.Present() {
					scale = a.Value.Float64()
				}
			}
			for i := range out.Len() {
				z := third.Float64()
				if !third.Present() {
					z = array.Float64At(spread(s.In[2], out), i)
				}
				a, b := array.Float64At(x, i), array.Float64At(y, i)
				want := map[*op.Op]float64{Lerp: a*(1-z) + b*z, Addcmul: a + scale*b*z, Addcdiv: a + scale*b/z}[o]
				requireNear(t, want, out, i, s.Name)
			}
		})
	}
	// The end is exact although 0.1 + (1e-9 - 0.1) rounds.
	end := eval(t, Lerp, LerpAttrs{op.Int(1)}, array.Scalar(float32(0.1)), array.Scalar(float32(1e-9)))
	require.Equal(t, float32(1e-9), array.Data[float32](end)[0])
}

func TestNanToNum(t *testing.T) {
	checkBad(t, NanToNum)
	checkSamples(t, NanToNum, func(t *testing.T, s op.Sample, out *array.Array) {
		x, a := array.Contiguous(s.In[0]), s.Attrs.(NanToNumAttrs)
		for i := range out.Len() {
			want := array.Float64At(x, i)
			switch {
			case math.IsNaN(want):
				want = a.Nan.Float64()
			case math.IsInf(want, 1):
				if want = math.MaxFloat32; a.Posinf.Present() {
					want = a.Posinf.Float64()
				}
			case math.IsInf(want, -1):
				if want = -math.MaxFloat32; a.Neginf.Present() {
					want = a.Neginf.Float64()
				}
			}
			require.Equal(t, want, array.Float64At(out, i))
		}
	})
	inf := array.FromSlice([]float32{float32(math.Inf(1)), float32(math.Inf(-1))})
	for d, largest := range map[array.DType]float64{array.F16: 65504, array.BF16: 3.3895313892515355e38, array.F64: math.MaxFloat64} {
		out := eval(t, NanToNum, NanToNumAttrs{}, array.Cast(inf, d))
		require.Equal(t, []float64{largest, -largest}, []float64{array.Float64At(out, 0), array.Float64At(out, 1)})
	}
}
