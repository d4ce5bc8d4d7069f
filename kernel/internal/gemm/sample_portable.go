//go:build !amd64

package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// sampleEven sets dst[y*ldd+x] to src[y*lds+2*x].
func sampleEven(_ cpu.Level, dst []float32, ldd int, src []float32, lds, cols, rows int) {
	for y := range rows {
		for x := range cols {
			dst[y*ldd+x] = src[y*lds+2*x]
		}
	}
}
