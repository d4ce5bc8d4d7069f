package kernel

// The functions here do the elements of x up to a multiple of rowLanes, by
// assembly, and return how many that were; see norm_rows.go.

// rowWhole returns the number of elements for assembly.
func rowWhole(level cpuLevel, x []float32) int {
	if level < levelAVX2 {
		return 0
	}
	return len(x) &^ (rowLanes - 1)
}

func rowExpSum(level cpuLevel, dst, x []float32, shift float64, l *[rowLanes]float64) int {
	n := rowWhole(level, x)
	switch {
	case n == 0:
	case level == levelAVX512:
		rowExpSum512(&dst[0], &x[0], n, shift, &l[0])
	default:
		rowExpSum256(&dst[0], &x[0], n, shift, &l[0])
	}
	return n
}
