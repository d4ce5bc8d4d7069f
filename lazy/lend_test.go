package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

func none() bool { return false }

// Code that is lent to a session leaves eager tensors, and is computed as often as it looks at data, and at the end.
func TestLend(t *testing.T) {
	s := open(t, lazy.Options{Warm: 1, Synchronous: true})
	x, w := vec(1, 2), vec(3, 4)
	for i := range 6 {
		var y, kept *tensor.Tensor
		n, err := s.Lend([]*tensor.Tensor{x, w}, func() {
			y = x.Mul(w)
			if y.Sum().Item() > 0 {
				w.AddScalarInPlace(1)
			}
			kept = w.Neg() // found does not name it
			y = y.Add(w)
		}, func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{y}, i < 3 }, none)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		for _, e := range []*tensor.Tensor{x, w, y} {
			require.Nil(t, e.Engine())
		}
		a := float32(i)
		require.Equal(t, []float32{3 + a + 4 + a, 2*(4+a) + 5 + a}, tensor.Data[float32](y))
		require.Equal(t, []float32{4 + a, 5 + a}, tensor.Data[float32](w))
		if i >= 3 {
			require.Nil(t, kept.Engine())
			require.Equal(t, []float32{-4 - a, -5 - a}, tensor.Data[float32](kept))
		}
	}
	require.Equal(t, 2, s.Stats().Graphs)
	require.Equal(t, 8, s.Stats().Hits)
}

// A mistake in data leaves data tensors as they were; so does a panic of code that is to run again, and another one keeps its writes.
func TestLendFails(t *testing.T) {
	s := open(t, lazy.Options{})
	x := vec(1, 2)
	all := func() ([]*tensor.Tensor, bool) { return nil, true }
	_, err := s.Lend([]*tensor.Tensor{x}, func() {
		x.AddScalarInPlace(1)
		x.Gather(tensor.FromSlice([]int64{7}), 0)
	}, all, none)
	require.ErrorContains(t, err, "lend_test.go:")
	require.Nil(t, x.Engine())
	require.Equal(t, []float32{1, 2}, tensor.Data[float32](x))
	for want, again := range map[float32]bool{1: true, 2: false} {
		y := vec(1, 2)
		require.Panics(t, func() {
			_, _ = s.Lend([]*tensor.Tensor{y}, func() {
				y.AddScalarInPlace(1)
				panic("stop")
			}, all, func() bool { return again })
		})
		require.Nil(t, y.Engine())
		require.Equal(t, want, tensor.Data[float32](y)[0])
	}
}

// A tensor whose memory code was given is eager in the end, as all others are.
func TestLend_memoryThatWasGiven(t *testing.T) {
	s := open(t, lazy.Options{})
	for range 4 {
		x := numbers(1, 2)
		var y, z *tensor.Tensor
		_, err := s.Lend([]*tensor.Tensor{x}, func() {
			y = x.ZerosLike()
			z = y.Add(x)
			tensor.Data[float32](y)[0] = 3
		}, func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{y, z}, true }, nil)
		require.NoError(t, err)
		require.Nil(t, y.Engine())
		require.Equal(t, []float32{3, 0}, tensor.Data[float32](y))
		require.Equal(t, []float32{1, 2}, tensor.Data[float32](z))
	}
}

// What was read of a data tensor stays what it was when code is given the memory, also what only shows it.
func TestLend_memoryOfAView(t *testing.T) {
	s := open(t, lazy.Options{})
	for range 4 {
		x := numbers(1.875, 2)
		var y *tensor.Tensor
		_, err := s.Lend([]*tensor.Tensor{x}, func() {
			first := x.Select(0, 0)
			y = x.ZerosLike()
			y.AddInPlace(first)
			tensor.Data[float32](first)[0] = 0.375
		}, func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{y}, true }, nil)
		require.NoError(t, err)
		require.Equal(t, []float32{1.875, 1.875}, tensor.Data[float32](y))
		require.Equal(t, []float32{0.375, 2}, tensor.Data[float32](x))
	}
}
