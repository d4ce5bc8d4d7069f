package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// A tensor that the code makes without the session, and writes in it, keeps its memory with the views of it.
func TestViewsOfEagerTensorsShareTheirMemory(t *testing.T) {
	x := numbers(1, 2, 3, 4)
	c, made := captured(t, []*tensor.Tensor{x}, nil, func() []*tensor.Tensor {
		z := tensor.Zeros(4)
		z.AddInPlace(x)
		return []*tensor.Tensor{z.Narrow(0, 1, 2), z}
	})
	require.Contains(t, c.Why, "shows memory that was made without the session")
	require.Equal(t, []float32{2, 3}, array.Data[float32](array.Contiguous(made[0].Value().(*array.Array))))
	made[0].AddScalarInPlace(10)
	require.Equal(t, []float32{1, 12, 13, 4}, tensor.Data[float32](made[1]))
}
