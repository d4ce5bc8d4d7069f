//go:build !amd64

package kernel

// No level here has windows, so that none of these is called.

func (*maxCall) run(cpuLevel, *spatial) {}

func averageWindows(*windowCall, cpuLevel, *spatial) {}

func meanOfRows(cpuLevel, int, []float32, int, *[meanRows]float32) {}
