package gemm

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// No access leaves an operand, on either side: such an access would fault.
func TestGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			sizes := [][3]int{{1, 37, 21}, {1, 1, 21}, {3, 37, 21}, {8, 37, 21}, {9, 33, 18}, {30, 2, 9}, {31, 47, 261}, {14, 32, 16}, {29, 65, 1}, {17, 70, 33}, {30, 48, 64}}
			for m := 1; m < 30; m++ { // each number of rows has code of its own, or shares some
				sizes = append(sizes, [3]int{m, 64, 19}, [3]int{m, 55, 4}, [3]int{m, 16, 3}, [3]int{m, 40, 1})
			}
			for _, s := range sizes {
				for flags := range 8 {
					g := newGemmCase(4, flags&1 != 0, flags&2 != 0, flags&4 != 0, s[0], s[1], s[2], 2, 1, 3)
					g.a, g.b, g.c = kerneltest.GuardedFloats(t, r, len(g.a), before), kerneltest.GuardedFloats(t, r, len(g.b), before), kerneltest.GuardedFloats(t, r, len(g.c), before)
					was := append([]float32{}, g.c...)
					Gemm(&par.Workspace{}, g.transA, g.transB, g.m, g.n, g.k, g.a, g.lda, g.b, g.ldb, g.c, g.ldc, g.acc)
					c := g.c
					g.c = was
					g.check(t, c)
				}
			}
		}
	})
}

// The same of products with a packed weight.
func TestGuardPagesPacked(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, before := range []bool{false, true} {
			for m := 1; m < 30; m++ {
				for _, s := range [][2]int{{1, 1}, {37, 21}, {32, 18}, {15, 33}, {16, 4}, {10, 70}, {12, 64}} {
					g := newGemmCase(5, m == 7, m&1 != 0, m&2 != 0, m, s[0], s[1], 2, 1, 3)
					p := PackB(&par.Workspace{}, g.transB, g.k, g.n, g.b, g.ldb)
					packed := kerneltest.GuardedFloats(t, r, len(p.data), before)
					copy(packed, p.data)
					p.data = packed
					g.a, g.c = kerneltest.GuardedFloats(t, r, len(g.a), before), kerneltest.GuardedFloats(t, r, len(g.c), before)
					was := append([]float32{}, g.c...)
					p.Gemm(&par.Workspace{}, g.transA, g.m, g.a, g.lda, g.c, g.ldc, g.acc)
					c := g.c
					g.c = was
					g.check(t, c)
				}
			}
		}
	})
}
