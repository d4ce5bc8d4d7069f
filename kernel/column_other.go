//go:build !amd64

package kernel

// There is no assembly for columns; see column.go.

func foldColumns(cpuLevel, int, []float64, []float64, []float32, int, int) bool { return false }

func extremeColumns(cpuLevel, bool, []float32, []float32, int, int) bool { return false }

func bestFast(cpuLevel, bool, []int64, []float32, int, int) bool { return false }
