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

// gemmRowsNEON is gemmTileNEON of the first one, two or four rows of a panel, with the same sums.
//
//go:noescape
func gemmRowsNEON(rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool)

// epilogueNEON applies e to rows of cols floats, a multiple of four.
//
//go:noescape
func epilogueNEON(rows, cols int, c *float32, ldc int, e *TileEpilogue)

// tileRows computes a tile of 1, 2, 4 or 8 whole rows.
func tileRows(rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool) {
	if rows == 8 {
		gemmTileNEON(k, a, b, ldb, c, ldc, acc)
	} else {
		gemmRowsNEON(rows, k, a, b, ldb, c, ldc, acc)
	}
}

// Tile32 computes one tile of a product. Tiles at an edge go through a
// buffer, because the assembly stores whole ones.
// The hardware looks ahead by itself.
func Tile32(_ cpu.Level, rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool, _ Fetch) {
	whole := 8
	for whole/2 >= rows {
		whole /= 2
	}
	if rows == whole && cols == 8 {
		tileRows(rows, k, a, b, ldb, c, ldc, acc)
		return
	}
	var tile [64]float32
	tileRows(whole, k, a, b, ldb, &tile[0], 8, false)
	dst := unsafe.Slice(c, (rows-1)*ldc+cols)
	for r := range rows {
		to, from := dst[r*ldc:r*ldc+cols], tile[8*r:8*r+cols]
		if !acc {
			copy(to, from)
			continue
		}
		for x, v := range from {
			to[x] += v
		}
	}
}

// epilogueTile32 applies e to a tile: four columns at a time, the rest in Go.
func epilogueTile32(l cpu.Level, rows, cols int, c []float32, ldc int, e *TileEpilogue) {
	whole := cols &^ 3
	if l != cpu.NEON {
		whole = 0
	}
	if whole > 0 {
		_ = c[(rows-1)*ldc+whole-1]
		epilogueNEON(rows, whole, &c[0], ldc, e)
	}
	if whole == cols {
		return
	}
	rest := *e
	for _, p := range []**float32{&rest.scaleCol, &rest.biasCol, &rest.Residual} {
		if *p != nil {
			*p = &unsafe.Slice(*p, whole+1)[whole]
		}
	}
	EpilogueTileGo(rows, cols-whole, c[whole:], ldc, &rest)
}
