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
