//go:build !amd64

package half

// Widen converts 16-bit floats.
func Widen(dst []float32, src []uint16, brain bool) { WidenGo(dst, src, brain) }

// Narrow rounds to 16-bit floats.
func Narrow(dst []uint16, src []float32, brain bool) { NarrowGo(dst, src, brain) }

// DotHalves multiplies rows with columns of 16-bit floats; see dotHalvesGo.
func DotHalves(n, rows, k int, x []float32, ldx int, w []uint16, ldw int, brain bool, dst []float32, ldd int) {
	for r := range rows {
		clear(dst[r*ldd : r*ldd+n])
	}
	dotHalvesGo(n, rows, 0, k, x, ldx, w, ldw, brain, dst, ldd)
}

// Int4Dot multiplies rows with columns of 4-bit integers; see int4DotGo.
func Int4Dot(n, rows, groups, blocks int, x []float32, ldx int, w []uint8, scale, dst []float32, ldd, skip int) {
	int4DotGo(n, rows, groups, blocks, x, ldx, w, scale, dst, ldd, skip)
}
