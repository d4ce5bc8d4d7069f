package std

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func keyBits(k *array.Array) [2]uint32 {
	bits := uint64(array.Int64At(k, 0))
	if k.DType() == array.U64 {
		bits = array.Data[uint64](k)[0]
	}
	return [2]uint32{uint32(bits), uint32(bits >> 32)}
}

func wordsOf(k *array.Array, i int) [4]uint32 {
	return kernel.Philox4x32([4]uint32{uint32(i), uint32(uint64(i) >> 32)}, keyBits(k))
}

func uniformRef(d array.DType, w0, w1 uint32) float64 {
	switch d {
	case array.F16:
		return float64(w0>>21) / (1 << 11)
	case array.BF16:
		return float64(w0>>24) / (1 << 8)
	case array.F64:
		return float64((uint64(w0)<<32|uint64(w1))>>11) / (1 << 53)
	}
	return float64(w0>>8) / (1 << 24)
}

func TestRand(t *testing.T) {
	for _, s := range Rand.Samples() {
		out := eval(t, Rand, s.Attrs, s.In...)
		for i := range out.Len() {
			w := wordsOf(s.In[0], i)
			require.Equal(t, uniformRef(out.DType(), w[0], w[1]), array.Float64At(out, i), "%s: element %d", s.Name, i)
		}
	}
	// The first word of the published test vector of Philox4x32-10 for zero key and counter.
	first := eval(t, Rand, SizeAttrs{Size: shape.ConstDims(1)}, key(0))
	require.Equal(t, float32(0x6627e8d5>>8)*0x1p-24, array.Data[float32](first)[0])
}

// meanAndVariance returns the mean and the variance.
func meanAndVariance(a *array.Array) (mean, variance float64) {
	for i := range a.Len() {
		mean += array.Float64At(a, i) / float64(a.Len())
	}
	for i := range a.Len() {
		variance += math.Pow(array.Float64At(a, i)-mean, 2) / float64(a.Len())
	}
	return mean, variance
}

func TestDistributions(t *testing.T) {
	for _, d := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
		a := SizeAttrs{shape.ConstDims(100, 200), d}
		mean, variance := meanAndVariance(eval(t, Rand, a, key(42)))
		require.InDelta(t, 0.5, mean, 0.01, d)
		require.InDelta(t, 1.0/12, variance, 0.002, d)
		n := eval(t, Randn, a, key(42))
		mean, variance = meanAndVariance(n)
		require.InDelta(t, 0, mean, 0.02, d)
		require.InDelta(t, 1, variance, 0.03, d)
	}
	for _, s := range Randn.Samples() {
		out := eval(t, Randn, s.Attrs, s.In...)
		for i := range out.Len() {
			w := wordsOf(s.In[0], i)
			u, v := float64(w[0])*0x1p-32+0x1p-33, uniformRef(array.F32, w[1], 0)
			if out.DType() == array.F64 {
				u, v = float64((uint64(w[0])<<32|uint64(w[1]))>>11+1)/(1<<53), uniformRef(array.F64, w[2], w[3])
			}
			requireNear(t, math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v), out, i, "randn")
		}
	}
}

func TestRandint(t *testing.T) {
	for _, s := range Randint.Samples() {
		a, out := s.Attrs.(RandintAttrs), eval(t, Randint, s.Attrs, s.In...)
		for i := range out.Len() {
			w := wordsOf(s.In[0], i)
			hi, _ := bits.Mul64(uint64(w[0])<<32|uint64(w[1]), uint64(a.High)-uint64(a.Low))
			want := a.Low + int(hi)
			require.True(t, want >= a.Low && want < a.High)
			require.Equal(t, int64(want), array.Int64At(out, i), "%v", a)
		}
	}
	mean, _ := meanAndVariance(eval(t, Randint, RandintAttrs{Low: -3, High: 4, Size: shape.ConstDims(20000)}, key(7)))
	require.InDelta(t, 0, mean, 0.05)
}

func TestBernoulliAndDropout(t *testing.T) {
	for _, s := range Bernoulli.Samples() {
		out, p := eval(t, Bernoulli, s.Attrs, s.In...), array.Contiguous(s.In[0])
		d := p.DType()
		if d != array.F64 {
			d = array.F32
		}
		for i := range out.Len() {
			w := wordsOf(s.In[1], i)
			require.Equal(t, float64(b2i(uniformRef(d, w[0], w[1]) < array.Float64At(p, i))), array.Float64At(out, i))
		}
	}
	for _, s := range Dropout.Samples() {
		a, out, x := s.Attrs.(DropoutAttrs), eval(t, Dropout, s.Attrs, s.In...), array.Contiguous(s.In[0])
		dropped := 0
		for i := range out.Len() {
			want := array.Float64At(x, i)
			if a.Training {
				w := wordsOf(s.In[1], i)
				d := array.F32
				if x.DType() == array.F64 {
					d = array.F64
				}
				if uniformRef(d, w[0], w[1]) < a.P {
					want = 0
					dropped++
				} else {
					want /= 1 - a.P
				}
			}
			requireNear(t, want, out, i, "dropout "+s.Name)
		}
		if s.Name == "training" {
			require.InDelta(t, a.P*float64(x.Len()), dropped, 60)
		}
	}
}

func TestDerivedKeys(t *testing.T) {
	seen := map[uint64]string{}
	add := func(k uint64, what string) {
		require.Empty(t, seen[k], "%s has the same key as %s", what, seen[k])
		seen[k] = what
	}
	for i := range 100 {
		add(uint64(array.Data[int64](eval(t, FoldIn, FoldInAttrs{i}, key(5)))[0]), "fold_in")
		w := wordsOf(key(5), i)
		add(uint64(w[0])<<32|uint64(w[1]), "a drawn value")
	}
	split := eval(t, RandomSplit, RandomSplitAttrs{shape.Const(100)}, key(5))
	for _, k := range array.Data[int64](split) {
		add(uint64(k), "random_split")
	}
	// A prefix does not depend on the number of keys.
	require.Equal(t, array.Data[int64](split)[:3], array.Data[int64](eval(t, RandomSplit, RandomSplitAttrs{shape.Const(3)}, key(5))))
	// Each element of a vector of keys is folded as it would be alone.
	both := eval(t, FoldIn, FoldInAttrs{9}, array.FromSlice([]int64{5, -6}))
	require.Equal(t, array.Data[int64](both)[1], array.Data[int64](eval(t, FoldIn, FoldInAttrs{9}, key(-6)))[0])
	require.Equal(t, array.U64, eval(t, FoldIn, FoldInAttrs{1}, array.Scalar(uint64(3))).DType())
	for _, o := range []*op.Op{Rand, Randn, Randint, Bernoulli, Dropout, FoldIn, RandomSplit} {
		require.Equal(t, op.Pure, o.Effect, o.Name)
	}
}
