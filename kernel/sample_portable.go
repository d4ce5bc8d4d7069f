//go:build !amd64

package kernel

// sampleEven sets dst[y*ldd+x] to src[y*lds+2*x].
func sampleEven(_ cpuLevel, dst []float32, ldd int, src []float32, lds, cols, rows int) {
	for y := range rows {
		for x := range cols {
			dst[y*ldd+x] = src[y*lds+2*x]
		}
	}
}
