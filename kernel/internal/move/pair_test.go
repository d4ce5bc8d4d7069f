package move

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Rows that are every other element of the result are brought together.
func TestInterleaves(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, d := range []array.DType{array.U8, array.I16, array.F32, array.F64} {
			for _, n := range []int{1, 2, 3, 17, 64, 130} {
				src, dst := array.New(d, 3, 2, n), array.New(d, 3, n, 2)
				for i := range src.Len() {
					array.SetInt64At(src, i, int64(i%251))
				}
				Copy{}.Run(&par.Workspace{}, []*array.Array{dst}, []*array.Array{array.Permute(src, 0, 2, 1)})
				for i := range dst.Len() {
					row, at, half := i/(2*n), i%(2*n)/2, i%2
					require.Equal(t, array.Float64At(src, (row*2+half)*n+at), array.Float64At(dst, i), "%s, %d: element %d", d, n, i)
				}
			}
		}
	})
}
