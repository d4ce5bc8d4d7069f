package kernel

// peakRun runs n rounds of independent multiply-adds and returns their number of
// operations.
func peakRun(l cpuLevel, n int) float64 {
	switch l {
	case levelAVX512:
		peakAVX512(n)
		return float64(n) * 12 * 16 * 2
	case levelAVX2:
		peakAVX2(n)
		return float64(n) * 12 * 8 * 2
	}
	return 0
}
