package cpu_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// rows writes x times the trip into a row of a buffer each trip.
func rows(t testing.TB, most int, more string) *cpu.Executable {
	m, err := graph.Parse([]byte(strings.NewReplacer("BODY", more, "MOST", strconv.Itoa(most)).Replace(`gofx 1

graph net(%x: f32[4], %trips: i64[]) {
  %zero = call_function[full]() {value=0, dtype=i64} : i64[]
  %buffer = call_function[zeros]() {size=[MOST,4]} : f32[MOST,4]
  %w = call_function[while](%zero, %buffer, %x, %trips) {carry=2} : (i64[], f32[MOST,4]) {
    region cond(%i: i64[], %b: f32[MOST,4], %x: f32[4], %n: i64[]) {
      %more = call_function[lt](%i, %n) : bool[]
      return %more
    }
    region body(%i: i64[], %b: f32[MOST,4], %x: f32[4], %n: i64[]) {
      %first = call_function[reshape](%i) {shape=[1]} : i64[1]
      %at = call_function[reshape](%i) {shape=[1,1]} : i64[1,1]
      %row = call_function[expand](%at) {shape=[1,4]} : i64[1,4]
      %f = call_function[cast](%i) {dtype=f32} : f32[]
      %y = call_function[mul](%x, %f) : f32[4]
      %src = call_function[reshape](%y) {shape=[1,4]} : f32[1,4]
      %next = call_function[add](%i) {other=1} : i64[]
BODY
    }
  }
  %all = call_function[getitem](%w) {index=1} : f32[MOST,4]
  return %all
}
`)), "net.fx")
	require.NoError(t, err)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	return e
}

const (
	inPlace = "      %new = call_function[scatter](%b, %row, %src)\n      return (%next, %new)"
	// The old buffer is read after the write.
	readAfter = "      %new = call_function[scatter](%b, %row, %src)\n      %sum = call_function[sum](%b)\n      %z = call_function[mul](%sum) {other=0.0}\n" +
		"      %newer = call_function[add](%new, %z)\n      return (%next, %newer)"
	// The old buffer is what is written.
	ofItself = "      %old = call_function[index_select](%b, %first) {dim=0}\n      %z = call_function[mul](%old) {other=0.0}\n      %both = call_function[add](%src, %z)\n" +
		"      %new = call_function[scatter](%b, %row, %both)\n      return (%next, %new)"
)

func TestCarriedBufferIsChangedInItsPlace(t *testing.T) {
	for _, body := range []string{inPlace, readAfter, ofItself} {
		e := rows(t, 6, body)
		for _, trips := range []int64{0, 1, 2, 5, 6, 3} {
			x := array.FromSlice([]float32{1, 2, 3, 4}, 4)
			out, err := e.Run(ctx, []*array.Array{x, array.Scalar(trips)})
			require.NoError(t, err)
			want := make([]float32, 24)
			for i := range int(trips) {
				for k := range 4 {
					want[4*i+k] = float32(i * (k + 1))
				}
			}
			require.Equal(t, want, array.Data[float32](out[0]), "%d trips", trips)
			require.Equal(t, []float32{1, 2, 3, 4}, array.Data[float32](x))
		}
	}
}

// Slices of a carried buffer are written in its place, too: a row to which each trip adds, and one
// that is read through a view in the step that writes.
func TestCarriedSlices(t *testing.T) {
	e := rows(t, 4, `      %old = call_function[slice](%b) {start=2, stop=3} : f32[1,4]
      %sum = call_function[add](%src, %old) : f32[1,4]
      %new = call_function[slice_scatter](%b, %sum) {start=2, stop=3} : f32[4,4]
      return (%next, %new)`)
	out, err := e.Run(ctx, []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 4), array.Scalar(int64(4))})
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0, 0, 0, 0, 0, 0, 6, 12, 18, 24, 0, 0, 0, 0}, array.Data[float32](out[0]))
	e = rows(t, 4, `      %first_row = call_function[slice_scatter](%b, %src) {stop=1} : f32[4,4]
      %upper = call_function[slice](%first_row) {stop=3} : f32[3,4]
      %new = call_function[slice_scatter](%first_row, %upper) {start=1, stop=4} : f32[4,4]
      return (%next, %new)`)
	out, err = e.Run(ctx, []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 4), array.Scalar(int64(4))})
	require.NoError(t, err)
	require.Equal(t, []float32{3, 6, 9, 12, 3, 6, 9, 12, 2, 4, 6, 8, 1, 2, 3, 4}, array.Data[float32](out[0]))
}

// BenchmarkTrips: the time of a trip does not grow with the buffer.
func BenchmarkTrips(b *testing.B) {
	for _, most := range []int{1024, 16384, 262144} {
		b.Run(strconv.Itoa(most), func(b *testing.B) {
			e := rows(b, most, inPlace)
			x := array.FromSlice([]float32{1, 2, 3, 4}, 4)
			out := []*array.Array{array.New(array.F32, most, 4)}
			run := func(trips int64) {
				require.NoError(b, e.RunInto(ctx, out, []*array.Array{x, array.Scalar(trips)}))
			}
			run(1)
			b.ResetTimer()
			for range b.N {
				run(1000)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/trip")
		})
	}
}
