package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// TestTooManyTrips: a while that says how many trips it makes at most is refused one more.
func TestTooManyTrips(t *testing.T) {
	e := compile(t, target(t), parsed(t, `gofx 1
graph net(%x: f32[4], %n: i64[]) {
  %l = call_function[while](%n, %x) {carry=2, max_trips=3} {
    region more(%k: i64[], %a: f32[4]) {
      %y = call_function[gt](%k) {other=0}
      return %y
    }
    region body(%k: i64[], %a: f32[4]) {
      %m = call_function[sub](%k) {other=1}
      %b = call_function[add](%a, %a)
      return (%m, %b)
    }
  }
  %y = call_function[getitem](%l) {index=1}
  return %y
}`))
	x := array.FromSlice([]float32{1, 2, 3, 4}, 4)
	for n, want := range []float32{1, 2, 4, 8} {
		out, err := e.Run(t.Context(), []*array.Array{x, array.Scalar(int64(n))})
		require.NoError(t, err)
		require.Equal(t, want, array.Data[float32](out[0])[0])
	}
	_, err := e.Run(t.Context(), []*array.Array{x, array.Scalar(int64(4))})
	require.ErrorIs(t, err, run.TooManyTrips)
	require.ErrorContains(t, err, "node %l: the loop goes on")
}
