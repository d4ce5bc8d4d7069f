package array

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDense(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6}
	d := DenseOf(data, 2, 3)
	require.Equal(t, F32, d.DType())
	require.Equal(t, []int{2, 3}, d.Shape())
	d.Data()[4] = 50
	require.Equal(t, float32(50), data[4], "the memory is shared")
	require.Equal(t, float32(50), At[float32](d.Array, 1, 1))

	require.Equal(t, []int{3}, DenseOf([]int64{1, 2, 3}).Shape())
	require.Panics(t, func() { DenseOf(data, 4) })

	z := NewDense[bool](2, 2)
	require.Equal(t, Bool, z.DType())
	require.Equal(t, []bool{false, false, false, false}, z.Data())

	back, ok := AsDense[float32](d.Array)
	require.True(t, ok)
	require.Same(t, d.Array, back.Array)
	_, ok = AsDense[float64](d.Array)
	require.False(t, ok)
	_, ok = AsDense[float64](nil)
	require.False(t, ok)
	require.Nil(t, Dense[int32]{}.Data())
}
