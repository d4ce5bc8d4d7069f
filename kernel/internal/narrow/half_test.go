package narrow

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// requireDots checks got[m][n] against Σ x·w + bias in float64: errors may be
// (k+8)·2^-23 of the sum of magnitudes, and of that of the bias.
func requireDots(t *testing.T, x []float32, weight func(c, p int) float64, bias []float32, m, n, k int, got []float32, msg string) {
	t.Helper()
	for i := range m {
		for c := range n {
			sum, size := 0.0, 0.0
			for p := range k {
				v := float64(x[i*k+p]) * weight(c, p)
				sum, size = sum+v, size+math.Abs(v)
			}
			if bias != nil {
				sum, size = sum+float64(bias[c]), size+math.Abs(float64(bias[c]))
			}
			require.InDelta(t, sum, float64(got[i*n+c]), float64(k+8)*size/(1<<23), "%s: row %d column %d of %dx%dx%d", msg, i, c, m, n, k)
		}
	}
}

func TestHalfLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 120 {
		m, n, k := 1+r.IntN(22), 1+r.IntN(20), r.IntN(150)
		switch r.IntN(10) {
		case 0:
			n = 300
		case 1:
			k = []int{4200, 4096}[r.IntN(2)]
		}
		d := []array.DType{array.F16, array.BF16}[r.IntN(2)]
		x, weight := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.Cast(array.FromSlice(kerneltest.RandomFloats(r, n*k), n, k), d)
		bias := array.FromSlice(kerneltest.RandomFloats(r, n), n)
		in := []*array.Array{x, weight, bias}
		if r.IntN(2) == 0 {
			bias, in = nil, in[:2]
		}
		var add []float32
		if bias != nil {
			add = array.Data[float32](bias)
		}
		out := array.New(array.F32, m, n)
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{Threads: 1 + r.IntN(2)}
			HalfLinear{}.Run(w, []*array.Array{out}, in)
			requireDots(t, array.Data[float32](x), func(c, p int) float64 { return array.Float64At(weight, c*k+p) }, add,
				m, n, k, array.Data[float32](out), level)
			require.LessOrEqual(t, w.HighWater(), HalfLinear{}.ScratchBytes([]*array.Array{out}, in))
		})
	}
}

func TestWidenEveryValue(t *testing.T) {
	src := make([]uint16, 1<<16)
	for i := range src {
		src[i] = uint16(i)
	}
	for _, brain := range []bool{false, true} {
		kerneltest.QLevels(t, func(level string) {
			dst := make([]float32, len(src)-3)
			half.Widen(dst, src[3:], brain)
			for i, v := range dst {
				want := half.WidenOne(src[i+3], brain)
				if want != want {
					require.True(t, v != v, "%s: %x is not NaN", level, src[i+3])
					continue
				}
				require.Equal(t, math.Float32bits(want), math.Float32bits(v), "%s: %x", level, src[i+3])
			}
		})
	}
}

func TestInt4Linear(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 120 {
		m, n, k, group := 1+r.IntN(22), 1+r.IntN(12), 1+r.IntN(300), 32*(1+r.IntN(4))
		switch r.IntN(10) {
		case 0:
			n = 270
		case 1:
			k = []int{4200, 4096}[r.IntN(2)]
		}
		groups := (k + group - 1) / group
		x := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k)
		raw, zeros := kerneltest.QBytes(r, n*((k+1)/2)), kerneltest.QBytes(r, n*groups)
		for i := range zeros {
			zeros[i] &= 15
		}
		scale := kerneltest.RandomFloats(r, n*groups)
		in := []*array.Array{x, array.FromSlice(raw, n, (k+1)/2), array.FromSlice(scale, n, groups), nil, nil}
		zero := func(int) float64 { return 8 }
		if r.IntN(2) == 0 {
			in[3] = array.FromSlice(zeros, n, groups)
			zero = func(i int) float64 { return float64(zeros[i]) }
		}
		var bias []float32
		if r.IntN(2) == 0 {
			bias = kerneltest.RandomFloats(r, n)
			in[4] = array.FromSlice(bias, n)
		}
		packed := array.New(array.U8, Int4PackedBytes(n, k, group))
		PackInt4{K: k, Group: group}.Run(&par.Workspace{}, []*array.Array{packed}, in[1:2])
		// Where x times 8-zero is added apart, errors are those of weights of up to 16.
		weight := func(c, p int) float64 {
			q := raw[c*((k+1)/2)+p/2] >> (4 * (p % 2)) & 15
			g := c*groups + p/group
			return (float64(q) - zero(g)) * float64(scale[g])
		}
		out := array.New(array.F32, m, n)
		kerneltest.QLevels(t, func(level string) {
			for _, s := range []Int4Linear{{Group: group}, {Group: group, Packed: true}} {
				ins := append([]*array.Array{}, in...)
				if s.Packed {
					ins[1] = packed
				}
				w := &par.Workspace{Threads: 1 + r.IntN(2)}
				s.Run(w, []*array.Array{out}, ins)
				requireDots(t, array.Data[float32](x), weight, bias, m, n, k, array.Data[float32](out), level)
				require.LessOrEqual(t, w.HighWater(), s.ScratchBytes([]*array.Array{out}, ins))
			}
		})
	}
}
