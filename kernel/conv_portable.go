//go:build !amd64

package kernel

import "unsafe"

// Only amd64 has code for tiles of positions and channels.
func hasConvTile(cpuLevel) bool { return false }

func convTile32(_ cpuLevel, rows, vecs int, src []float32, offsets []int64, jump int, b, _, tile []float32, acc bool) {
	convTileGo(panelLanes(levelGeneric), rows, vecs, src, offsets, jump, b, tile, acc)
}

func convStore32(_ cpuLevel, rows, cols int, tile, dst []float32, ldc int, e *tileEpilogue) {
	convStoreGo(panelLanes(levelGeneric), rows, cols, tile, dst, ldc, e)
}

func convSpan32(l cpuLevel, rows, cols int, a, b []float32, offsets []int64, c []float32, ldc int, e *spanEpilogue) {
	var residual []float32
	if e.residual != nil {
		residual = unsafe.Slice(e.residual, (rows-1)*e.ldr/4+cols)
	}
	convSpanGo(rows, cols, blockingOf(l).stride, a, b, offsets, c, ldc, e, residual)
}
