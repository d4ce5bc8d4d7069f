package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

// TestAllocationsOfACall counts those of calls on tensors that are no parameters: the elements, their header,
// the handle, and attributes where there are some.
func TestAllocationsOfACall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the race detector is run so, and has pools drop what they hold")
	}
	x, y := tensor.FromSlice(make([]float32, 16), 4, 4), tensor.FromSlice(make([]float32, 16), 4, 4)
	for name, c := range map[string]struct {
		call  func()
		count float64
	}{
		"add":        {func() { x.Add(y) }, 4},
		"mul_scalar": {func() { x.MulScalar(2) }, 4},
		"relu":       {func() { x.Relu() }, 3},
		"maximum":    {func() { tensor.Maximum(x, y) }, 3},
	} {
		c.call()
		require.Equal(t, c.count, testing.AllocsPerRun(200, c.call), name)
	}
}

// TestCallsKeepNoOperands: what a call works with is used again by the next one, and a tensor that was
// computed has memory of its own.
func TestCallsKeepNoOperands(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 4)
	var all []*tensor.Tensor
	for i := range 50 {
		all = append(all, x.AddScalar(i), x.MulScalar(i), x.Cumsum(0).AddScalar(i))
	}
	parts := tensor.Split(x, []int{2, 2}, 0)
	for i := range 50 {
		f := float32(i)
		require.Equal(t, []float32{1 + f, 2 + f, 3 + f, 4 + f}, tensor.Data[float32](all[3*i]))
		require.Equal(t, []float32{f, 2 * f, 3 * f, 4 * f}, tensor.Data[float32](all[3*i+1]))
		require.Equal(t, []float32{1 + f, 3 + f, 6 + f, 10 + f}, tensor.Data[float32](all[3*i+2]))
	}
	require.Len(t, parts, 2)
	require.Same(t, parts[1].Value().(*array.Array).Storage(), x.Value().(*array.Array).Storage())
}
