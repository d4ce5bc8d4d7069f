package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestLinearPacked(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for i, s := range [][3]int{{1, 5, 7}, {3, 33, 70}, {17, 65, 300}, {40, 31, 20}, {2, 4, 0}, {0, 4, 3}, {20, 10, 64}, {33, 12, 300}, {5, 7, 1100}, {1, 1, 90}} {
			m, n, k := s[0], s[1], s[2]
			for subset := range 8 {
				dt := []array.DType{array.F32, array.F16, array.BF16}[(i+subset)%3]
				step := LinearPacked{Features: n, Epilogue: epilogues[(i+subset/2)%4]}
				x, wt := toArray(randomRef(r, []int{m, k}), dt, subset&2 != 0), toArray(randomRef(r, []int{n, k}), dt, subset&4 != 0)
				packed := array.New(array.F32, PackedLen(k, n))
				runStep(t, PackLinear{}, []*array.Array{packed}, []*array.Array{wt})
				more, ref := extra(r, dt, subset, n, []int{m, n})
				out, want := array.New(dt, m, n), newRef(m, n)
				runStep(t, step, []*array.Array{out}, append([]*array.Array{x, packed}, more...))
				a, b := toRef(x), toRef(wt)
				for j := range want.v {
					sum := 0.0
					for p := range k {
						sum += a.v[j/n*k+p] * b.v[j%n*k+p]
					}
					want.v[j] = finish(sum, step.Epilogue, ref[1].or(j%n, 1), ref[0].or(j%n, 0), ref[2].or(j, 0))
				}
				requireClose(t, want, out)
			}
		}
	})
}

func TestPackedB(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 40, 30}, {2, 33, 9}, {3, 70, 1600}, {4, 31, 11}, {5, 32, 10}, {6, 16, 7}, {7, 15, 9}, {8, 300, 40}, {9, 70, 300}, {30, 2100, 20}, {3, 4, 0}, {0, 3, 3}} {
			for flags := range 8 {
				g := newGemmCase(4, flags&1 != 0, flags&2 != 0, flags&4 != 0, s[0], s[1], s[2], 1, 2, 3)
				p := PackB(&Workspace{}, g.transB, g.k, g.n, g.b, g.ldb)
				c := append([]float32{}, g.c...)
				p.Gemm(&Workspace{Threads: 2}, g.transA, g.m, g.a, g.lda, c, g.ldc, g.acc)
				g.check(t, c)
				alone := append([]float32{}, g.c...)
				p.Gemm(&Workspace{}, g.transA, g.m, g.a, g.lda, alone, g.ldc, g.acc)
				require.Equal(t, alone, c, "result depends on the number of threads")
			}
		}
	})
}

// Whether the weight was packed before changes no bit of a product, in however many
// blocks it is computed.
func TestPackedBIsTheSameProduct(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if cpu.level == levelGeneric {
			t.Skip("packs along k, which sums in another order")
		}
		for _, s := range [][3]int{{12, 5000, 10}, {15, 4130, 770}, {300, 170, 800}, {300, 40, 800}, {95, 40, 769}} {
			for flags := 0; flags < 4; flags += 3 {
				g := newGemmCase(5, flags&1 != 0, flags&2 != 0, false, s[0], s[1], s[2], 1, 2, 3)
				p := PackB(&Workspace{}, g.transB, g.k, g.n, g.b, g.ldb)
				c := append([]float32{}, g.c...)
				p.Gemm(&Workspace{}, g.transA, g.m, g.a, g.lda, c, g.ldc, false)
				require.Equal(t, g.run(&Workspace{Threads: 2}), c, "%v", s)
			}
		}
	})
}

// The assembly and its twin agree on every bit, comparisons with NaN included.
func TestEpilogueTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-42, 6, -6}
	random := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(r.NormFloat64() * 4)
			if r.IntN(8) == 0 {
				s[i] = special[r.IntN(len(special))]
			}
		}
		return s
	}
	for _, l := range levels() {
		for n := range 400 {
			rows, cols, ldc, ldr := 1+r.IntN(15), 1+r.IntN(40), 40+r.IntN(3), 40+r.IntN(3)
			if r.IntN(2) == 0 {
				cols = 16 << r.IntN(2) // whole tiles have code of their own
			}
			e := epilogue{ldr: ldr}
			for i, p := range []*[]float32{&e.scaleRow, &e.biasRow, &e.scaleCol, &e.biasCol, &e.residual} {
				if n>>i&1 != 0 {
					*p = random([]int{rows, rows, cols, cols, rows * ldr}[i])
				}
			}
			e = e.with(epilogues[n%4])
			c := random(rows * ldc)
			want := append([]float32{}, c...)
			e.apply(levelGeneric, rows, cols, 0, 0, want, ldc)
			e.apply(l, rows, cols, 0, 0, c, ldc)
			for i := range c {
				if math.IsNaN(float64(want[i])) && math.IsNaN(float64(c[i])) {
					continue
				}
				require.Equal(t, math.Float32bits(want[i]), math.Float32bits(c[i]), "%s: %dx%d operands %b element %d", l.String(), rows, cols, n&31, i)
			}
		}
	}
}

func TestLinearPackedDoesNotAllocate(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		packed := array.New(array.F32, PackedLen(50, 60))
		requireNoAllocs(t, LinearPacked{Features: 60}, []*array.Array{array.New(array.F32, 9, 60)},
			[]*array.Array{array.New(array.F32, 9, 50), packed, array.New(array.F32, 60), nil, array.New(array.F32, 9, 60)})
		requireNoAllocs(t, LinearPacked{Features: 60}, []*array.Array{array.New(array.F32, 2, 60)},
			[]*array.Array{array.New(array.F32, 2, 50), packed, array.New(array.F32, 60), nil, array.New(array.F32, 2, 60)})
	})
}
