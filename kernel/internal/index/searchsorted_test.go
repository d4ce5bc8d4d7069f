package index

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// TestSearchSorted counts the elements before each one.
func TestSearchSorted(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	seq := array.FromSlice([]float64{-inf, -1, 0, 0, 2, 2, 2, inf, -3, 4, 4, 5, 6, 7, 8, 9}, 2, 8)
	x := array.FromSlice([]float64{0, 2, 3, nan, inf, 4, -4, 9, 10, nan}, 2, 5)
	for _, right := range []bool{false, true} {
		var want []int64
		for i, v := range array.Data[float64](x) {
			n := int64(0)
			for _, s := range array.Data[float64](seq)[i/5*8:][:8] {
				if s < v || right && s == v || v != v {
					n++
				}
			}
			want = append(want, n)
		}
		out := array.New(array.I64, 2, 5)
		SearchSorted{right}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{seq, x})
		require.Equal(t, want, array.Data[int64](out), right)
	}
	one := array.New(array.I64, 3)
	SearchSorted{}.Run(&par.Workspace{}, []*array.Array{one}, []*array.Array{array.FromSlice([]uint64{1, math.MaxUint64}), array.FromSlice([]uint64{0, 2, math.MaxUint64})})
	require.Equal(t, []int64{0, 1, 1}, array.Data[int64](one))
}
