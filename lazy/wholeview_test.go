package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// An expansion to the sizes that a tensor has is a view through which it is written, as in eager code; one that repeats
// elements is none.
func TestWritesThroughExpansions(t *testing.T) {
	step := func(x *tensor.Tensor) *tensor.Tensor {
		y := x.MulScalar(2)
		y.Expand(-1, 2).Select(0, 1).Expand(-1).AddScalarInPlace(5)
		return y
	}
	s := open(t, lazy.Options{Synchronous: true})
	for range 4 {
		x := ramp(3, 2)
		require.Equal(t, tensor.Data[float32](step(x)), tensor.Data[float32](step(s.In(x))))
	}
	require.Panics(t, func() { s.In(ramp(1, 2)).Expand(3, -1).AddScalarInPlace(1) })
	require.Panics(t, func() { ramp(1, 2).Expand(3, -1).AddScalarInPlace(1) })
}
