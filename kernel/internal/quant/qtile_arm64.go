package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// qTile computes a tile by the best kernel of this machine; see qTileGo.
func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, b []int8, c []int32, ldc int) {
	switch {
	case len(offs) == 0 || run == 0 || cpu.Host.Level < cpu.NEON:
		qTileGo(rows, a, at, lda, offs, run, b, c, ldc)
	case cpu.Host.Dot:
		qTileDot(rows, &a[at], lda, &offs[0], len(offs), run/4, run%4, &b[0], &c[0], ldc)
	default:
		for r := 0; r < rows; r += 3 {
			qTileNEON(min(3, rows-r), &a[at+r*lda], lda, &offs[0], len(offs), run/4, run%4, &b[0], &c[r*ldc], ldc)
		}
	}
}
