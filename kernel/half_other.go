//go:build !amd64

package kernel

func widen(dst []float32, src []uint16, brain bool) { widenGo(dst, src, brain) }

func narrow(dst []uint16, src []float32, brain bool) { narrowGo(dst, src, brain) }

func dotHalves(n, rows, k int, x []float32, ldx int, w []uint16, ldw int, brain bool, dst []float32, ldd int) {
	for r := range rows {
		clear(dst[r*ldd : r*ldd+n])
	}
	dotHalvesGo(n, rows, 0, k, x, ldx, w, ldw, brain, dst, ldd)
}

func int4Dot(n, rows, groups, blocks int, x []float32, ldx int, w []uint8, scale, dst []float32, ldd, skip int) {
	int4DotGo(n, rows, groups, blocks, x, ldx, w, scale, dst, ldd, skip)
}
