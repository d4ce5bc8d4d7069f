package narrow

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// requireDots checks got[m][n] against Σ x·w + bias in float64: errors may be
// (k+8)·2^-23 of the sum of magnitudes, and of that of the bias. Of a weight that is
// computed as a sum, the size is that of the terms.
func requireDots(t *testing.T, x []float32, weight func(c, p int) (w, size float64), bias []float32, m, n, k int, got []float32, msg string) {
	t.Helper()
	for i := range m {
		for c := range n {
			sum, size := 0.0, 0.0
			for p := range k {
				v := float64(x[i*k+p])
				w, most := weight(c, p)
				sum, size = sum+v*w, size+math.Abs(v*most)
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
			requireDots(t, array.Data[float32](x), func(c, p int) (w, size float64) {
				return array.Float64At(weight, c*k+p), array.Float64At(weight, c*k+p)
			}, add,
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

// nibble is a weight of 4 bits, and the size of its terms: x times 8-zero may be added apart.
func nibble(q uint8, zero float64, scale float32) (w, size float64) {
	return (float64(q) - zero) * float64(scale), (math.Abs(float64(q)-8) + math.Abs(8-zero)) * float64(scale)
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
		case 2, 3, 4: // groups that make whole lines
			m = 1 + r.IntN(60)
			group = []int{32, 64, 128, 256}[r.IntN(4)]
			k = max(group, 128) * (1 + r.IntN(6))
			k -= r.IntN(2) * r.IntN(32)
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
		weight := func(c, p int) (w, size float64) {
			q := raw[c*((k+1)/2)+p/2] >> (4 * (p % 2)) & 15
			g := c*groups + p/group
			return nibble(q, zero(g), scale[g])
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

func TestInt8Linear(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for range 120 {
		m, n, k := 1+r.IntN(22), 1+r.IntN(20), r.IntN(300)
		switch r.IntN(10) {
		case 0:
			n = 300
		case 1:
			k = []int{4200, 4096}[r.IntN(2)]
		}
		d := []array.DType{array.I8, array.U8}[r.IntN(2)]
		bytes := func(n int) *array.Array {
			a := array.New(d, n)
			copy(array.Bytes(a), kerneltest.QBytes(r, n))
			return a
		}
		each := []int{1, n}[r.IntN(2)]
		x, weight, scale := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.Reshape(bytes(n*k), n, k), kerneltest.RandomFloats(r, each)
		in := []*array.Array{x, weight, array.FromSlice(scale, each), nil, nil}
		zero := func(int) float64 { return 0 }
		if r.IntN(2) == 0 {
			z := bytes(each)
			in[3], zero = z, func(c int) float64 { return array.Float64At(z, c%each) }
		}
		var bias []float32
		if r.IntN(2) == 0 {
			bias = kerneltest.RandomFloats(r, n)
			in[4] = array.FromSlice(bias, n)
		}
		out := array.New(array.F32, m, n)
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{Threads: 1 + r.IntN(2)}
			Int8Linear{}.Run(w, []*array.Array{out}, in)
			require.LessOrEqual(t, w.HighWater(), Int8Linear{}.ScratchBytes([]*array.Array{out}, in))
			// Products with weights and with zero points are summed apart.
			for i := range m {
				for c := range n {
					want, size := 0.0, 0.0
					for p := range k {
						v := float64(array.Data[float32](x)[i*k+p]) * float64(scale[c%each])
						q := array.Float64At(weight, c*k+p)
						want, size = want+v*(q-zero(c)), size+math.Abs(v)*(math.Abs(q)+math.Abs(zero(c)))
					}
					if bias != nil {
						want, size = want+float64(bias[c]), size+math.Abs(float64(bias[c]))
					}
					require.InDelta(t, want, float64(array.Data[float32](out)[i*n+c]), float64(k+8)*size/(1<<23), "%s: row %d column %d of %dx%dx%d", level, i, c, m, n, k)
				}
			}
		})
	}
}

// TestInt4Embedding compares rows with weights unpacked one by one.
func TestInt4Embedding(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for range 60 {
		v, e, group := 1+r.IntN(9), 2*r.IntN(120), 32*(1+r.IntN(2))
		groups := (e + group - 1) / group
		raw, zeros, scale := kerneltest.QBytes(r, v*e/2), kerneltest.QBytes(r, v*groups), kerneltest.RandomFloats(r, v*groups)
		for i := range zeros {
			zeros[i] &= 15
		}
		index := make([]int64, r.IntN(7))
		for i := range index {
			index[i] = int64(r.IntN(v))
		}
		in := []*array.Array{array.FromSlice(index), array.FromSlice(raw, v, e/2), array.FromSlice(scale, v, groups)}
		zero := func(int) int32 { return 8 }
		if r.IntN(2) == 0 {
			in = append(in, array.FromSlice(zeros, v, groups))
			zero = func(i int) int32 { return int32(zeros[i]) }
		}
		if r.IntN(2) == 0 {
			in[0] = array.Cast(in[0], array.I32)
		}
		out := array.New(array.F32, len(index), e)
		kerneltest.QLevels(t, func(level string) {
			Int4Embedding{Group: group}.Run(&par.Workspace{Threads: 2}, []*array.Array{out}, in)
			for i, row := range index {
				for p := range e {
					g := int(row)*groups + p/group
					q := raw[(int(row)*e+p)/2] >> (4 * (p % 2)) & 15
					require.Equal(t, float32(int32(q)-zero(g))*scale[g], array.Data[float32](out)[i*e+p], level)
				}
			}
		})
	}
	require.PanicsWithError(t, "index 3 is out of range for dimension 0 of size 3 [FX2030]", func() {
		Int4Embedding{Group: 32}.Run(&par.Workspace{}, []*array.Array{array.New(array.F32, 1, 2)},
			[]*array.Array{array.FromSlice([]int64{3}), array.New(array.U8, 3, 1), array.New(array.F32, 3, 1)})
	})
}

// One row that is too long for the first cache next to weights takes four columns at a time: each has the bits that it has
// alone, whatever the number of columns and threads, and nothing is read past the weights.
func TestLongRowTakesColumnsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, k := range []int{6112, 6144, 6176, 8960 + 96, 8960 + 13} {
		for n := 1; n <= 9; n++ {
			x := array.FromSlice(kerneltest.RandomFloats(r, k), 1, k)
			for _, d := range []array.DType{array.F16, array.BF16} {
				weight := array.Cast(array.FromSlice(kerneltest.RandomFloats(r, n*k), n, k), d)
				words := kerneltest.GuardedFloats(t, r, (n*k+1)/2, false)
				bits := unsafe.Slice((*uint16)(unsafe.Pointer(&words[0])), 2*len(words))[n*k&1:]
				copy(bits, loadHalves(&par.Workspace{}, weight))
				kerneltest.QLevels(t, func(level string) {
					got, alone := make([]float32, n), make([]float32, n)
					half.DotHalves(n, 1, k, array.Data[float32](x), k, bits, k, d == array.BF16, got, n)
					for c := range n {
						half.DotHalves(1, 1, k, array.Data[float32](x), k, bits[c*k:], k, d == array.BF16, alone[c:], 1)
					}
					require.Equal(t, alone, got, "%s: %d columns of %d", level, n, k)
					requireDots(t, array.Data[float32](x), func(c, p int) (w, size float64) {
						return array.Float64At(weight, c*k+p), array.Float64At(weight, c*k+p)
					}, nil, 1, n, k, got, level)
				})
			}
		}
	}
}
