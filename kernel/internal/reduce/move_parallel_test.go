package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// warmWorkspaces gives n goroutines the scratch that blocks of a reduction take.
func warmWorkspaces(n int) {
	if n > 0 {
		w := par.SpareWorkspaces.Take()
		w.Reserve(16 * RowSpan)
		warmWorkspaces(n - 1)
		par.SpareWorkspaces.Put(w)
	}
}

// The number of threads shows neither in results nor in allocations.
func TestMoveAndReduceThreads(t *testing.T) {
	x := kerneltest.Rand64(rand.New(rand.NewPCG(17, 18)), 37, 60, 50)
	for _, d := range []array.DType{array.F32, array.F64, array.I16} {
		in := kerneltest.Layouts(d, x)[1]
		for _, c := range []struct {
			s     par.Step
			shape []int
		}{
			{move.Permute{Dims: []int{2, 0, 1}}, []int{50, 37, 60}},
			{move.Copy{}, []int{37, 60, 50}},
			{move.Flip{Dims: []int{0, 2}}, []int{37, 60, 50}},
			{Reduce{Kind: "sum", Dims: []int{1}}, []int{37, 50}},
			{Reduce{Kind: "max", Dims: []int{1, 2}}, []int{37}},
			{Reduce{Kind: "sum", Dims: []int{0}}, []int{60, 50}},
		} {
			one := kerneltest.Run1(t, c.s, d, c.shape, in)
			out, args := []*array.Array{array.New(d, c.shape...)}, []*array.Array{in}
			w := par.Workspace{Threads: 3}
			warmWorkspaces(3)
			require.Zero(t, testing.AllocsPerRun(20, func() { c.s.Run(&w, out, args) }))
			require.Zero(t, w.Mark())
			require.Equal(t, kerneltest.Unpack64(one), kerneltest.Unpack64(out[0]), c.s)
		}
	}
}
