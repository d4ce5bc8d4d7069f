package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Both ways a weight may lie, as it is and as a view, with every epilogue; left operands that are
// views, too. Without an epilogue the bits are those of Linear and MatMul.
func TestLinearFused(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 8))
		for i, s := range [][3]int{{1, 5, 7}, {3, 33, 70}, {17, 65, 300}, {40, 31, 20}, {2, 4, 0}, {0, 4, 3}, {20, 10, 64}, {33, 12, 300}, {5, 7, 1100}, {1, 1, 90}} {
			m, n, k := s[0], s[1], s[2]
			for subset := range 16 {
				dt := []array.DType{array.F32, array.F16, array.BF16, array.F32}[(i+subset)%4]
				step := LinearFused{Transposed: subset&8 != 0, Epilogue: kerneltest.EpilogueAt(i + subset/2)}
				shape := []int{n, k}
				if step.Transposed {
					shape = []int{k, n}
				}
				x, wt := kerneltest.ToArray(kerneltest.RandomRef(r, []int{m, k}), dt, subset&2 != 0), kerneltest.ToArray(kerneltest.RandomRef(r, shape), dt, subset&4 != 0)
				if subset&1 != 0 {
					x = array.Permute(array.Contiguous(array.Permute(x, 1, 0)), 1, 0)
				}
				if subset&6 == 6 {
					wt = array.Permute(array.Contiguous(array.Permute(wt, 1, 0)), 1, 0)
				}
				more, ref := kerneltest.Extra(r, dt, subset&7, n, []int{m, n})
				out, want := array.New(dt, m, n), kerneltest.NewRef(m, n)
				kerneltest.RunStep(t, step, []*array.Array{out}, append([]*array.Array{x, wt}, more...))
				a, b := kerneltest.ToRef(x), kerneltest.ToRef(wt)
				for j := range want.V {
					sum := 0.0
					for p := range k {
						at := j%n*k + p
						if step.Transposed {
							at = p*n + j%n
						}
						sum += a.V[j/n*k+p] * b.V[at]
					}
					want.V[j] = kerneltest.Finish(sum, step.Epilogue, ref[1].Or(j%n, 1), ref[0].Or(j%n, 0), ref[2].Or(j, 0))
				}
				kerneltest.RequireClose(t, want, out)

				same, plain := array.New(dt, m, n), array.New(dt, m, n)
				in := []*array.Array{x, wt, more[0]}
				var k par.Step = Linear{}
				if step.Transposed {
					k, in = MatMul{}, in[:2]
				}
				kerneltest.RunStep(t, k, []*array.Array{same}, in)
				kerneltest.RunStep(t, LinearFused{Transposed: step.Transposed}, []*array.Array{plain}, in)
				if cpu.Assembly() {
					kerneltest.RequireEqualArrays(t, same, plain)
				} // else the bias comes first there
			}
		}
	})
}

// A run takes the scratch that it asks for and allocates nothing.
func TestLinearFusedDoesNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		kerneltest.RequireNoAllocs(t, LinearFused{}, []*array.Array{array.New(array.F32, 40, 30)},
			[]*array.Array{array.New(array.F32, 40, 70), array.New(array.F32, 30, 70), nil, nil, array.New(array.F32, 40, 30)})
	})
	require.Zero(t, LinearFused{}.ScratchBytes([]*array.Array{array.New(array.F32, 0, 3)}, []*array.Array{array.New(array.F32, 0, 2), array.New(array.F32, 3, 2)}))
}
