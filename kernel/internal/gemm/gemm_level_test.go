package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// gemmCase is a product with operands of any leading dimension.
type gemmCase struct {
	transA, transB, acc bool
	m, n, k             int
	a, b, c             []float32
	lda, ldb, ldc       int
}

func newGemmCase(seed uint64, transA, transB, acc bool, m, n, k, gapA, gapB, gapC int) *gemmCase {
	r := rand.New(rand.NewPCG(seed, 7))
	g := &gemmCase{transA: transA, transB: transB, acc: acc, m: m, n: n, k: k}
	matrix := func(rows, cols, gap int, trans bool) ([]float32, int) {
		if trans {
			rows, cols = cols, rows
		}
		s := make([]float32, max(0, (rows-1)*(cols+gap)+cols))
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s, cols + gap
	}
	g.a, g.lda = matrix(m, k, gapA, transA)
	g.b, g.ldb = matrix(k, n, gapB, transB)
	g.c, g.ldc = matrix(m, n, gapC, false)
	return g
}

func (g *gemmCase) at(i, j int) (want, bound float64) {
	if g.acc {
		want = float64(g.c[i*g.ldc+j])
		bound = math.Abs(want)
	}
	for p := range g.k {
		x, y := i*g.lda+p, p*g.ldb+j
		if g.transA {
			x = p*g.lda + i
		}
		if g.transB {
			y = j*g.ldb + p
		}
		v := float64(g.a[x]) * float64(g.b[y])
		want += v
		bound += math.Abs(v)
	}
	return want, bound * float64(g.k+2) * 0x1p-23
}

// check compares c with the exact product, within the bound that Gemm states,
// and requires that nothing between rows was written.
func (g *gemmCase) check(t require.TestingT, c []float32) {
	for i := range g.m {
		for j := range g.ldc {
			at := i*g.ldc + j
			if at >= len(c) {
				break
			}
			if j >= g.n {
				require.Equal(t, g.c[at], c[at], "gap at %d,%d", i, j)
				continue
			}
			want, bound := g.at(i, j)
			if math.Abs(want-float64(c[at])) > bound {
				require.Failf(t, "outside the bound", "%dx%dx%d transA=%v transB=%v acc=%v: c[%d,%d] is %v, exactly %v, bound %g",
					g.m, g.n, g.k, g.transA, g.transB, g.acc, i, j, c[at], want, bound)
			}
		}
	}
}

func (g *gemmCase) run(w *par.Workspace) []float32 {
	c := append([]float32{}, g.c...)
	Gemm(w, g.transA, g.transB, g.m, g.n, g.k, g.a, g.lda, g.b, g.ldb, c, g.ldc, g.acc)
	return c
}

// Shapes around the edges of every tile, vector and short path.
func TestGemmLevels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			size := rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(1, 70), rapid.SampledFrom([]int{13, 14, 15, 16, 28, 29, 32, 33, 64, 65}))
			gap := rapid.IntRange(0, 5)
			g := newGemmCase(rapid.Uint64().Draw(r, "seed"), rapid.Bool().Draw(r, "transA"), rapid.Bool().Draw(r, "transB"), rapid.Bool().Draw(r, "acc"),
				size.Draw(r, "m"), size.Draw(r, "n"), rapid.OneOf(size, rapid.SampledFrom([]int{255, 256, 257, 385, 600, 769, 1540})).Draw(r, "k"),
				gap.Draw(r, "gapA"), gap.Draw(r, "gapB"), gap.Draw(r, "gapC"))
			w := &par.Workspace{}
			c := g.run(w)
			g.check(r, c)
			require.Zero(r, w.Mark())
			require.LessOrEqual(r, w.HighWater(), Scratch[float32](g.m, g.n, g.k))
			require.Equal(r, c, g.run(&par.Workspace{Threads: 3}), "result depends on the number of threads")
		})
	})
}

// Blocks of rows, of columns and of k, on several threads.
func TestGemmLargeLevels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{300, 33, 800}, {20, 2100, 20}, {130, 2100, 20}, {3, 700, 2100}, {700, 3, 2100}, {1, 300, 1500}, {300, 1, 1500}} {
			for flags := range 4 {
				g := newGemmCase(1, flags&1 != 0, flags&2 != 0, false, s[0], s[1], s[2], 1, 0, 2)
				w := &par.Workspace{Threads: 2}
				c := g.run(w)
				require.LessOrEqual(t, w.HighWater(), Scratch[float32](g.m, g.n, g.k))
				require.Equal(t, c, g.run(&par.Workspace{}), "result depends on the number of threads")
				for i := range 40 { // spots: the exact product of all would take long
					r, q := i*(g.m-1)/39, (i*7919)%g.n
					want, bound := g.at(r, q)
					require.InDelta(t, want, float64(c[r*g.ldc+q]), bound)
				}
			}
		}
	})
}

// NaN and infinity reach exactly the sums that they are a term of.
func TestGemmSpecialValues(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 40, 30}, {3, 40, 30}, {8, 40, 30}, {20, 40, 300}, {40, 2, 30}, {15, 33, 17}} {
			for flags := range 4 {
				g := newGemmCase(2, flags&1 != 0, flags&2 != 0, false, s[0], s[1], s[2], 0, 0, 0)
				row, col, p := g.m/2, g.n/2, g.k-1
				x, y := row*g.lda+p, p*g.ldb+col
				if g.transA {
					x = p*g.lda + row
				}
				if g.transB {
					y = col*g.ldb + p
				}
				g.a[x], g.b[y] = float32(math.NaN()), float32(math.Inf(1))
				c := g.run(&par.Workspace{})
				for i := range g.m {
					for j := range g.n {
						v := float64(c[i*g.ldc+j])
						switch {
						case i == row:
							require.True(t, math.IsNaN(v), "%v %d,%d", s, i, j)
						case j == col:
							require.True(t, math.IsInf(v, 0), "%v %d,%d: %v", s, i, j, v)
						default:
							require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v %d,%d", s, i, j)
						}
					}
				}
			}
		}
	})
}

func TestGemmRefusesShortOperands(t *testing.T) {
	short := func(m, n, k, lda, lenA int) func() {
		return func() {
			Gemm(&par.Workspace{}, false, false, m, n, k, make([]float32, lenA), lda, make([]float32, k*n), n, make([]float32, m*n), n, false)
		}
	}
	require.NotPanics(t, short(3, 4, 5, 5, 15))
	require.PanicsWithValue(t, "kernel: matrix a has 14 elements and leading dimension 5, too short for 3x5", short(3, 4, 5, 5, 14))
	require.PanicsWithValue(t, "kernel: matrix a has 15 elements and leading dimension 4, too short for 3x5", short(3, 4, 5, 4, 15))
	// Offsets that overflow are too long for any slice, not short again.
	require.Panics(t, func() {
		Gemm(&par.Workspace{}, false, false, 3, 1, 1, make([]float32, 8), math.MaxInt/2+1, make([]float32, 1), 1, make([]float32, 3), 1, false)
	})
}

func TestGemmDoesNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 100, 100}, {3, 100, 100}, {100, 2, 50}, {60, 100, 300}} {
			for flags := range 4 {
				g := newGemmCase(3, flags&1 != 0, flags&2 != 0, false, s[0], s[1], s[2], 0, 0, 0)
				for _, threads := range []int{1, 2} {
					w := &par.Workspace{Threads: threads}
					f := func() {
						Gemm(w, g.transA, g.transB, g.m, g.n, g.k, g.a, g.lda, g.b, g.ldb, g.c, g.ldc, false)
					}
					for range 4 {
						f()
					}
					require.Zero(t, testing.AllocsPerRun(10, f), "%v %d", s, flags)
				}
			}
		}
	})
}
