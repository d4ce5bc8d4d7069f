package gemm

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// brain is what the processor makes of a float: array's rounding, and 0 of subnormal floats.
func brain(f float32) uint32 {
	if math.Float32bits(f)&0x7f800000 == 0 {
		f = float32(math.Copysign(0, float64(f)))
	}
	return uint32(array.BFloatFromFloat32(f))
}

// awkward returns floats of all kinds: every exponent, ties, NaN, infinities, zeros.
func awkward(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		b := r.Uint32()
		switch r.IntN(8) {
		case 0:
			b = b&0xffff0000 | 0x8000 // a tie
		case 1:
			b &= 0x807fffff // subnormal
		case 2:
			b |= 0x7f800000 // NaN
		case 3:
			b = b&0x80000000 | 0x7f800000 | b&1<<16
		case 4:
			b = b&0x80000000 | 0x7f7f0000 | b&0xffff // rounds to infinity, perhaps
		case 5:
			b &= 0x80000000
		}
		x[i] = math.Float32frombits(b)
	}
	return x
}

// Words have the operands as array rounds them, on all their lengths.
func TestJoin(t *testing.T) {
	if !cpu.HasPairs() {
		t.Skip("needs AVX-512 BF16")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(1, 2))
	for turn := range 300 {
		n, before := turn/2, turn%2 == 1
		src := awkward(r, n)
		got := kerneltest.GuardedFloats(t, r, Words(n), before)
		from := kerneltest.GuardedFloats(t, r, n, before)
		copy(from, src)
		JoinAlong(got, from)
		for i := range got {
			want := brain(src[2*i])
			if 2*i+1 < n {
				want |= brain(src[2*i+1]) << 16
			}
			require.Equalf(t, want, math.Float32bits(got[i]), "word %d of %d floats: %x", i, n, src[2*i:])
		}
		lo, hi, both := kerneltest.GuardedFloats(t, r, n, before), kerneltest.GuardedFloats(t, r, n, before), kerneltest.GuardedFloats(t, r, n, before)
		copy(lo, src)
		copy(hi, awkward(r, n))
		JoinAcross(both, lo, hi)
		for i := range both {
			require.Equalf(t, brain(lo[i])|brain(hi[i])<<16, math.Float32bits(both[i]), "word %d of %d", i, n)
		}
		JoinAcross(both, lo, nil)
		for i := range both {
			require.Equalf(t, brain(lo[i]), math.Float32bits(both[i]), "word %d of %d alone", i, n)
		}
	}
}

// Every float of 32 bits in steps rounds as array's, joined and as a rounded float.
func TestRoundAll(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 1, 15, 16, 17, 1023, 1024, 1025, 5000} {
			src, dst := awkward(r, n), make([]float32, n)
			RoundAll(&par.Workspace{Threads: 2}, dst, src)
			for i, v := range dst {
				require.Equalf(t, uint32(array.BFloatFromFloat32(src[i]))<<16, math.Float32bits(v), "%x", src[i])
			}
		}
	})
}

// Splitting words gives the rounded channels again.
func TestSplitPlanes(t *testing.T) {
	if !cpu.HasPairs() {
		t.Skip("needs AVX-512 BF16")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, channels := range []int{1, 2, 3, 8} {
		w, src := &par.Workspace{Threads: 2}, awkward(r, 2*channels*37)
		got := SplitPlanes(w, BrainPlanes(w, true, src, 2, channels, 37), 2, channels, 37)
		for i, v := range got {
			require.Equal(t, brain(src[i])<<16, math.Float32bits(v))
		}
	}
}

func TestLinearPackedBF16(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			m := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 8, 9, 13, 14, 15, 40, 130}).Draw(r, "rows")
			n := rapid.SampledFrom([]int{1, 4, 12, 13, 16, 31, 32, 33, 65, 300}).Draw(r, "columns")
			k := rapid.SampledFrom([]int{0, 1, 2, 3, 31, 64, 65, 257, 768, 1537, 3074}).Draw(r, "depth")
			if m*n*k > 1<<18 {
				m = min(m, max(1, 1<<18/(n*k)))
			}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			dt := rapid.SampledFrom([]array.DType{array.F32, array.F32, array.F16, array.BF16}).Draw(r, "type")
			x := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{m, k}), dt, rapid.Bool().Draw(r, "x lies apart"))
			wt := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{n, k}), dt, rapid.Bool().Draw(r, "the weight lies apart"))
			pack, of := PackLinear{BF16: true, Transposed: rapid.Bool().Draw(r, "turned")}, wt
			if pack.Transposed {
				if of = array.Permute(wt, 1, 0); rapid.Bool().Draw(r, "turned in memory") {
					of = array.Contiguous(of)
				}
			}
			_, dims := pack.Packed(of)
			packed := array.New(array.F32, dims...)
			kerneltest.RunStep(t, pack, []*array.Array{packed}, []*array.Array{of})
			out := array.New(array.F32, m, n)
			step := LinearPacked{Features: n, BF16: true}
			kerneltest.RunStep(t, step, []*array.Array{out}, []*array.Array{x, packed})
			a, b := kerneltest.Brained(x), kerneltest.Brained(wt)
			exact, size := kerneltest.NewRef(m, n), kerneltest.NewRef(m, n)
			for j := range exact.V {
				for p := range k {
					v := a.V[j/n*k+p] * b.V[j%n*k+p]
					exact.V[j] += v
					size.V[j] += math.Abs(v)
				}
			}
			kerneltest.RequireBrainSums(t, exact, size, k, a.Most()+b.Most(), out)
			again := array.New(array.F32, m, n)
			step.Run(&par.Workspace{Threads: 3}, []*array.Array{again}, []*array.Array{x, packed})
			require.Equal(t, array.Data[float32](out), array.Data[float32](again), "threads change no bit")
		})
	})
}

// What follows the sums is computed in f32: the epilogue's operands are not rounded.
func TestLinearPackedBF16Epilogue(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		const m, n, k = 33, 45, 70
		r := rand.New(rand.NewPCG(5, 6))
		for subset := range 8 {
			s := LinearPacked{Features: n, BF16: true, Epilogue: kerneltest.EpilogueAt(subset / 2)}
			x, wt := kerneltest.ToArray(kerneltest.RandomRef(r, []int{m, k}), array.F32, false), kerneltest.ToArray(kerneltest.RandomRef(r, []int{n, k}), array.F32, false)
			_, dims := PackLinear{BF16: true}.Packed(wt)
			packed := array.New(array.F32, dims...)
			kerneltest.RunStep(t, PackLinear{BF16: true}, []*array.Array{packed}, []*array.Array{wt})
			more, ref := kerneltest.Extra(r, array.F32, subset, n, []int{m, n})
			out, want := array.New(array.F32, m, n), kerneltest.NewRef(m, n)
			kerneltest.RunStep(t, s, []*array.Array{out}, append([]*array.Array{x, packed}, more...))
			a, b := kerneltest.Brained(x), kerneltest.Brained(wt)
			for j := range want.V {
				sum := 0.0
				for p := range k {
					sum += a.V[j/n*k+p] * b.V[j%n*k+p]
				}
				want.V[j] = kerneltest.Finish(sum, s.Epilogue, ref[1].Or(j%n, 1), ref[0].Or(j%n, 0), ref[2].Or(j, 0))
			}
			kerneltest.RequireClose(t, want, out)
		}
	})
}

// NaN and infinities of operands reach their sums; a zero padding of the depth adds none.
func TestLinearPackedBF16NotFinite(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		inf := float32(math.Inf(1))
		x := array.FromSlice([]float32{1, 2, inf, 1, 2, 3, 1, 2, 0x1.ffffp127}, 3, 3)
		wt := array.FromSlice([]float32{1, 1, 1, 1, 1, 0, 1, 1, inf}, 3, 3)
		_, dims := PackLinear{BF16: true}.Packed(wt)
		packed := array.New(array.F32, dims...)
		PackLinear{BF16: true}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{wt})
		out := array.New(array.F32, 3, 3)
		LinearPacked{Features: 3, BF16: true}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x, packed})
		got := array.Data[float32](out)
		nan := func(v float32) bool { return v != v }
		require.Equal(t, []float32{6, 3, inf}, got[3:6])
		require.True(t, got[0] == inf && nan(got[1]) && got[2] == inf, "%v", got)
		require.True(t, got[6] == inf && nan(got[7]) && got[8] == inf, "the greatest float rounds to infinity: %v", got)
	})
}

// At every size, wherever such an operand lies, and at all levels.
func TestLinearPackedBF16Unusual(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 11))
		for _, m := range []int{1, 2, 5, 14, 15, 40} {
			for _, n := range []int{1, 7, 12, 13, 33, 70} {
				for _, k := range []int{1, 2, 3, 17, 64, 65, 129, 1601} {
					x, wt := kerneltest.Unusual(r, []int{m, k}, []int{n, k})
					pack, of := PackLinear{BF16: true, Transposed: r.IntN(2) == 0}, wt
					if pack.Transposed {
						of = array.Permute(wt, 1, 0)
					}
					_, dims := pack.Packed(of)
					packed, out := array.New(array.F32, dims...), array.New(array.F32, m, n)
					pack.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{of})
					LinearPacked{Features: n, BF16: true}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x, packed})
					a, b, exact := kerneltest.Brained(x), kerneltest.Brained(wt), kerneltest.NewRef(m, n)
					for j := range exact.V {
						for p := range k {
							exact.V[j] += a.V[j/n*k+p] * b.V[j%n*k+p]
						}
					}
					kerneltest.RequireUnusual(t, exact, out, []int{m, n, k})
				}
			}
		}
	})
}

func TestLinearPackedBF16DoesNotAllocate(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		for _, m := range []int{1, 20} {
			wt := array.New(array.F32, 40, 33)
			_, dims := PackLinear{BF16: true}.Packed(wt)
			kerneltest.RequireNoAllocs(t, LinearPacked{Features: 40, BF16: true, Epilogue: operand.Epilogue{Act: operand.ActReLU}},
				[]*array.Array{array.New(array.F32, m, 40)}, []*array.Array{array.New(array.F32, m, 33), array.New(array.F32, dims...), array.New(array.F32, 40)})
		}
	})
}

// The instruction adds the product of the second elements of a pair, then that of the first ones, each in one rounding:
// products of bf16 are exact in f32, so that a sum of floats shows its bits.
func TestPairsAreTwoMultiplyAdds(t *testing.T) {
	if !cpu.HasPairs() {
		t.Skip("needs AVX-512 BF16")
	}
	const m, n, k = 33, 70, 64
	r := rand.New(rand.NewPCG(9, 9))
	for range 50 {
		x, wt := array.New(array.F32, m, k), array.New(array.F32, n, k)
		for _, a := range []*array.Array{x, wt} {
			v := array.Data[float32](a)
			for i := range v {
				v[i] = array.BFloatFromFloat32(float32(math.Ldexp(r.NormFloat64(), r.IntN(12)))).Float32()
			}
		}
		_, dims := PackLinear{BF16: true}.Packed(wt)
		packed, out := array.New(array.F32, dims...), array.New(array.F32, m, n)
		PackLinear{BF16: true}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{wt})
		LinearPacked{Features: n, BF16: true}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x, packed})
		a, b := array.Data[float32](x), array.Data[float32](wt)
		for i, got := range array.Data[float32](out) {
			var sum float32
			for p := 0; p < k; p += 2 {
				u, v := i/n*k+p, i%n*k+p
				sum += float32(a[u+1] * b[v+1])
				sum += float32(a[u] * b[v])
			}
			require.Equal(t, math.Float32bits(sum), math.Float32bits(got), "element %d", i)
		}
	}
}
