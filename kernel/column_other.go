//go:build !amd64

package kernel

// There is no assembly for columns and rows; see column.go.

func foldColumns(cpuLevel, int, []float64, []float64, []float32, int, int) bool { return false }

func extremeColumns(cpuLevel, bool, []float32, []float32, int, int) bool { return false }

func bestFast(cpuLevel, bool, []int64, []float32, int, int) bool { return false }

func rowSumFast(cpuLevel, []float32) (float64, bool) { return 0, false }

func rowSquaresFast(cpuLevel, []float32, float64) (float64, bool) { return 0, false }

func rowExtremeFast(cpuLevel, bool, []float32) (float32, bool) { return 0, false }
