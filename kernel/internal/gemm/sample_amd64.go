package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// sampleEven sets dst[y*ldd+x] to src[y*lds+2*x].
func sampleEven(l cpu.Level, dst []float32, ldd int, src []float32, lds, cols, rows int) {
	_, _ = dst[(rows-1)*ldd+cols-1], src[(rows-1)*lds+2*cols-2]
	if l == cpu.AVX512 {
		convSampleAVX512(&dst[0], ldd, &src[0], lds, cols, rows)
	} else {
		convSampleAVX2(&dst[0], ldd, &src[0], lds, cols, rows)
	}
}
