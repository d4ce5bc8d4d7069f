package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// convTileGo stores the sums over the steps p of position r times the vecs·lanes
// floats of row p of b in row r of tile, 2·lanes floats a row, or adds them with
// acc. Position r is src[offsets[p]+r], jump floats later from rowsRun on.
func convTileGo(lanes, rows, vecs int, src []float32, offsets []int64, jump int, b, tile []float32, acc bool) {
	width := vecs * lanes
	for r := range rows {
		at := r
		if r >= rowsRun {
			at += jump
		}
		sums := tile[2*r*lanes : 2*r*lanes+width]
		if !acc {
			clear(sums)
		}
		for p, o := range offsets {
			gemm.Axpy(sums, src[int(o)+at], b[p*width:(p+1)*width])
		}
	}
}

// convStoreGo stores tile[2·r·lanes+c], through the epilogue e, in dst[c*ldc+r]
// for r < rows and c < cols. The row parameters of e belong to one c; it has no
// column parameters.
func convStoreGo(lanes, rows, cols int, tile, dst []float32, ldc int, e *gemm.TileEpilogue) {
	for c := range cols {
		for r := range rows {
			dst[c*ldc+r] = tile[2*r*lanes+c]
		}
	}
	gemm.EpilogueTileGo(cols, rows, dst, ldc, e)
}
