//go:build !amd64

package kernel

// There is no assembly for the functions of affine.go.

func affineEachFast(cpuLevel, []float32, []float32, float32, float32, float32, bool) bool {
	return false
}

func affineRowFast(cpuLevel, []float32, []float32, []float32, []float32, float32, float32, float32, bool) bool {
	return false
}

func affineColumnsFast(cpuLevel, []float32, []float32, []float32, []float32, []float32) bool {
	return false
}

func expShiftedFast(cpuLevel, []float32, []float32, float32) bool { return false }

func rowsSoftmaxFast(cpuLevel, []float32, []float32, int, bool) bool { return false }

func scalesAhead(cpuLevel, []float32, int, bool) bool { return false }

func normRow(_, _, _, _ []float32, _, _, _ float32, _ []float32, _ int, _ bool) float64 { return 0 }
