//go:build !amd64

package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// filterChannels filters channels by plan, which no level here does.
func (j *depthwise32Job) filterChannels(lo, hi int) {}

// depthwisePlane adds up a row of the result, which stays in the first cache while
// all taps pass over it.
func depthwisePlane(_ cpu.Level, rows, cols int, dst, src []float32, lds int, offsets []int64, weights []float32, bias, lo, hi float32) {
	for y := range rows {
		row := dst[y*cols : (y+1)*cols]
		for x := range row {
			row[x] = bias
		}
		for t, o := range offsets {
			gemm.Axpy(row, weights[t], src[y*lds+int(o):])
		}
		for x, v := range row {
			row[x] = min(max(v, lo), hi)
		}
	}
}
