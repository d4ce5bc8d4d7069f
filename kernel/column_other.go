//go:build !amd64

package kernel

// There is no assembly for columns and rows; see column.go.

func foldColumns(cpuLevel, int, []float64, []float64, []float32, int, int, int) bool {
	return false
}

func extremeColumns(cpuLevel, bool, []float32, []float32, int, int, int) bool { return false }

func bestFast(cpuLevel, bool, []int64, []float32, int, int) bool { return false }

func rowsSumFast(cpuLevel, []float64, []float32, int, int) bool { return false }

func rowsSquaresFast(cpuLevel, []float64, []float64, []float32, int, int) bool {
	return false
}

func rowsExtremeFast(cpuLevel, bool, []float32, []float32, int) bool { return false }
