package fxtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// Rounding decides which of two sums of the same terms is larger, so either index is accepted. A wrong
// index of clearly different elements is not.
func TestSettled_onlyRoundingIsForgiven(t *testing.T) {
	sums := func(in []*array.Array) ([]*array.Array, error) {
		x := array.Data[float32](in[0])
		first, second := (x[0]+x[1])+x[2], x[0]+(x[1]+x[2])
		at := int64(0)
		if second > first {
			at = 1
		}
		clear := int64(0)
		if x[1] > x[0] {
			clear = 1
		}
		return []*array.Array{array.FromSlice([]int64{at, clear}, 2), array.FromSlice([]float32{first}, 1)}, nil
	}
	in := []*array.Array{array.FromSlice([]float32{0.15, 0.85, 1.9}, 3)}
	want, err := sums(in)
	require.NoError(t, err)
	at := array.Data[int64](want[0])

	other := func(first, second int64, sum float32) []*array.Array {
		return []*array.Array{array.FromSlice([]int64{first, second}, 2), array.FromSlice([]float32{sum}, 1)}
	}
	sum := array.Data[float32](want[1])[0]
	tie := other(1-at[0], at[1], sum)
	require.NotEmpty(t, CloseArrays(want, tie))
	require.Empty(t, CloseArrays(want, Settled(want, tie, in, sums)))
	require.EqualValues(t, 1-at[0], array.Data[int64](tie[0])[0], "got is left as it was")
	for _, wrong := range [][]*array.Array{other(at[0], 1-at[1], sum), other(at[0], at[1], sum+0.01)} {
		require.NotEmpty(t, CloseArrays(want, Settled(want, wrong, in, sums)))
	}
}
