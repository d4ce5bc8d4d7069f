package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// PeakRun runs n rounds of independent multiply-adds and returns their number of
// operations.
func PeakRun(l cpu.Level, n int) float64 {
	switch l {
	case cpu.AVX512:
		peakAVX512(n)
		return float64(n) * 12 * 16 * 2
	case cpu.AVX2:
		peakAVX2(n)
		return float64(n) * 12 * 8 * 2
	}
	return 0
}
