package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// SampleRows sets dst[y*ldd+x] to src[y*lds+x*s] for x < cols and y < rows.
func SampleRows(l cpu.Level, dst []float32, ldd int, src []float32, lds, cols, rows, s int) {
	switch s {
	case 1:
		for y := range rows {
			copy(dst[y*ldd:y*ldd+cols], src[y*lds:])
		}
	case 2:
		sampleEven(l, dst, ldd, src, lds, cols, rows)
	default:
		for y := range rows {
			d, from := dst[y*ldd:y*ldd+cols], src[y*lds:]
			for x := range d {
				d[x] = from[x*s]
			}
		}
	}
}
