//go:build !amd64

package kernel

// No element is done by assembly; see norm_rows.go.

func rowSum(cpuLevel, []float32, *[rowLanes]float64) int { return 0 }

func rowDeviation(cpuLevel, []float32, float64, *[rowLanes]float64) int { return 0 }

func rowExpSum(cpuLevel, []float32, []float32, float64, *[rowLanes]float64) int { return 0 }

func rowMax(cpuLevel, []float32, *[rowLanes]float32) int { return 0 }
