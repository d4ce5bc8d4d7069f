package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestLinearPacked(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for i, s := range [][3]int{{1, 5, 7}, {3, 33, 70}, {17, 65, 300}, {40, 31, 20}, {2, 4, 0}, {0, 4, 3}, {20, 10, 64}, {33, 12, 300}, {5, 7, 1100}, {1, 1, 90}} {
			m, n, k := s[0], s[1], s[2]
			for subset := range 8 {
				dt := []array.DType{array.F32, array.F16, array.BF16}[(i+subset)%3]
				step := LinearPacked{Features: n, Epilogue: kerneltest.EpilogueAt(i + subset/2)}
				x, wt := kerneltest.ToArray(kerneltest.RandomRef(r, []int{m, k}), dt, subset&2 != 0), kerneltest.ToArray(kerneltest.RandomRef(r, []int{n, k}), dt, subset&4 != 0)
				packed := array.New(array.F32, PackedLen(k, n))
				kerneltest.RunStep(t, PackLinear{}, []*array.Array{packed}, []*array.Array{wt})
				more, ref := kerneltest.Extra(r, dt, subset, n, []int{m, n})
				out, want := array.New(dt, m, n), kerneltest.NewRef(m, n)
				kerneltest.RunStep(t, step, []*array.Array{out}, append([]*array.Array{x, packed}, more...))
				a, b := kerneltest.ToRef(x), kerneltest.ToRef(wt)
				for j := range want.V {
					sum := 0.0
					for p := range k {
						sum += a.V[j/n*k+p] * b.V[j%n*k+p]
					}
					want.V[j] = kerneltest.Finish(sum, step.Epilogue, ref[1].Or(j%n, 1), ref[0].Or(j%n, 0), ref[2].Or(j, 0))
				}
				kerneltest.RequireClose(t, want, out)
			}
		}
	})
}

func TestPackedB(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 40, 30}, {2, 33, 9}, {3, 70, 1600}, {4, 31, 11}, {5, 32, 10}, {6, 16, 7}, {7, 15, 9}, {8, 300, 40}, {9, 70, 300}, {30, 2100, 20}, {3, 4, 0}, {0, 3, 3}} {
			for flags := range 8 {
				g := newGemmCase(4, flags&1 != 0, flags&2 != 0, flags&4 != 0, s[0], s[1], s[2], 1, 2, 3)
				p := PackB(&par.Workspace{}, g.transB, g.k, g.n, g.b, g.ldb)
				c := append([]float32{}, g.c...)
				p.Gemm(&par.Workspace{Threads: 2}, g.transA, g.m, g.a, g.lda, c, g.ldc, g.acc)
				g.check(t, c)
				alone := append([]float32{}, g.c...)
				p.Gemm(&par.Workspace{}, g.transA, g.m, g.a, g.lda, alone, g.ldc, g.acc)
				require.Equal(t, alone, c, "result depends on the number of threads")
			}
		}
	})
}

// Whether the weight was packed before changes no bit of a product, in however many
// blocks it is computed.
func TestPackedBIsTheSameProduct(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		if cpu.Host.Level == cpu.Generic {
			t.Skip("level generic packs along k, which sums in another order")
		}
		for _, s := range [][3]int{{12, 5000, 10}, {15, 4130, 770}, {300, 170, 800}, {300, 40, 800}, {95, 40, 769}} {
			for flags := 0; flags < 4; flags += 3 {
				g := newGemmCase(5, flags&1 != 0, flags&2 != 0, false, s[0], s[1], s[2], 1, 2, 3)
				p := PackB(&par.Workspace{}, g.transB, g.k, g.n, g.b, g.ldb)
				c := append([]float32{}, g.c...)
				p.Gemm(&par.Workspace{}, g.transA, g.m, g.a, g.lda, c, g.ldc, false)
				require.Equal(t, g.run(&par.Workspace{Threads: 2}), c, "%v", s)
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
	for _, l := range kerneltest.Levels() {
		for n := range 400 {
			rows, cols, ldc, ldr := 1+r.IntN(15), 1+r.IntN(40), 40+r.IntN(3), 40+r.IntN(3)
			if r.IntN(2) == 0 {
				cols = 16 << r.IntN(2) // whole tiles have code of their own
			}
			e := Finish{Ldr: ldr}
			for i, p := range []*[]float32{&e.ScaleRow, &e.BiasRow, &e.scaleCol, &e.biasCol, &e.Residual} {
				if n>>i&1 != 0 {
					*p = random([]int{rows, rows, cols, cols, rows * ldr}[i])
				}
			}
			e = e.With(kerneltest.EpilogueAt(n))
			c := random(rows * ldc)
			want := append([]float32{}, c...)
			e.Apply(cpu.Generic, rows, cols, 0, 0, want, ldc)
			e.Apply(l, rows, cols, 0, 0, c, ldc)
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
	kerneltest.EachLevel(t, func(t *testing.T) {
		packed := array.New(array.F32, PackedLen(50, 60))
		kerneltest.RequireNoAllocs(t, LinearPacked{Features: 60}, []*array.Array{array.New(array.F32, 9, 60)},
			[]*array.Array{array.New(array.F32, 9, 50), packed, array.New(array.F32, 60), nil, array.New(array.F32, 9, 60)})
		kerneltest.RequireNoAllocs(t, LinearPacked{Features: 60}, []*array.Array{array.New(array.F32, 2, 60)},
			[]*array.Array{array.New(array.F32, 2, 50), packed, array.New(array.F32, 60), nil, array.New(array.F32, 2, 60)})
	})
}
