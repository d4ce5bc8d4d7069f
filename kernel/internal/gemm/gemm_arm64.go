package gemm

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// gemmTileNEON stores the product of a panel of eight rows and one of eight
// columns, k >= 1 steps, in c, or adds it with acc. b has rows of ldb floats.
//
//go:noescape
func gemmTileNEON(k int, a, b *float32, ldb int, c *float32, ldc int, acc bool)

// Tile32 computes one tile of a product. Tiles at an edge go through a
// buffer, because the assembly stores whole ones.
// The hardware looks ahead by itself.
func Tile32(_ cpu.Level, rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool, _ Fetch) {
	if rows == 8 && cols == 8 {
		gemmTileNEON(k, a, b, ldb, c, ldc, acc)
		return
	}
	var tile [64]float32
	gemmTileNEON(k, a, b, ldb, &tile[0], 8, false)
	dst := unsafe.Slice(c, (rows-1)*ldc+cols)
	for r := range rows {
		for x, v := range tile[8*r : 8*r+cols] {
			if acc {
				dst[r*ldc+x] += v
			} else {
				dst[r*ldc+x] = v
			}
		}
	}
}
