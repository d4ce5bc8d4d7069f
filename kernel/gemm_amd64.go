package kernel

import "unsafe"

//go:generate go -C ../internal/asmgen run .

// panelLanes is the floats that packing moves at once.
func panelLanes(l cpuLevel) int {
	switch l {
	case levelAVX512:
		return 16
	case levelAVX2:
		return 8
	}
	return 1
}

// gemmTile32 computes one tile of a product from a panel of a and rows of b, and
// asks for memory that is needed soon.
func gemmTile32(l cpuLevel, rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool, ahead fetch) {
	if l == levelAVX512 {
		gemmTileAVX512(rows, k, a, b, ldb, c, ldc, cols, acc, ahead.at, ahead.step)
	} else {
		gemmTileAVX2(rows, k, a, b, ldb, c, ldc, cols, acc, ahead.at, ahead.step)
	}
}

// gemmTilePack32 is gemmTile32 for whole rows of b, which it copies to pack.
func gemmTilePack32(l cpuLevel, rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool, ahead fetch, pack []float32) {
	_ = pack[2*panelLanes(l)*k-1]
	if l == levelAVX512 {
		gemmTilePackAVX512(rows, k, a, b, ldb, c, ldc, acc, ahead.at, ahead.step, &pack[0])
	} else {
		gemmTilePackAVX2(rows, k, a, b, ldb, c, ldc, acc, ahead.at, ahead.step, &pack[0])
	}
}

// hasStrip reports whether the level has code for strips, and for tiles that
// pack what they read.
func hasStrip(l cpuLevel) bool { return l >= levelAVX2 }

// gemmStrip32 computes c = a·b, or c += a·b with acc, for a panel of rows and
// all columns: those from panelLanes·2·i on of row p of b are at b[i*step+p*ldb].
func gemmStrip32(l cpuLevel, rows, k int, a []float32, lda int, b []float32, ldb, step int, c []float32, ldc, cols int, acc bool) {
	nr := 2 * panelLanes(l)
	tail := (cols - 1) / nr
	_, _, _ = a[(rows-1)*lda+k-1], b[tail*step+(k-1)*ldb+cols-tail*nr-1], c[(rows-1)*ldc+cols-1]
	if l == levelAVX512 {
		gemmStripAVX512(rows, k, &a[0], lda, &b[0], ldb, step, &c[0], ldc, cols, acc)
	} else {
		gemmStripAVX2(rows, k, &a[0], lda, &b[0], ldb, step, &c[0], ldc, cols, acc)
	}
}

// packAlong stores dst[p*stride+r] = src[r*ld+p] for at most panelLanes rows.
func packAlong(l cpuLevel, dst []float32, stride int, src []float32, ld, rows, k int) {
	lanes := panelLanes(l)
	_, _ = dst[(k-1)*stride+lanes-1], src[(rows-1)*ld+k-1]
	if l == levelAVX512 {
		packTransposeAVX512(&dst[0], stride, &src[0], ld, rows, k)
	} else {
		packTransposeAVX2(&dst[0], stride, &src[0], ld, rows, k)
	}
}

// packAcross stores dst[p*stride+r] = src[p*ld+r] for at most twice panelLanes
// columns.
func packAcross(l cpuLevel, dst []float32, stride int, src []float32, ld, cols, k int) {
	_, _ = dst[(k-1)*stride+roundUp(cols, panelLanes(l))-1], src[(k-1)*ld+cols-1]
	if l == levelAVX512 {
		packCopyAVX512(&dst[0], stride, &src[0], ld, cols, k)
	} else {
		packCopyAVX2(&dst[0], stride, &src[0], ld, cols, k)
	}
}

// packRun stores dst[p*stride+r] = src[offsets[p]+r] for any number of columns.
func packRun(l cpuLevel, dst []float32, stride int, src []float32, offsets []int64, cols int) {
	lanes := panelLanes(l)
	for x := 0; x < cols; x += lanes {
		n := min(lanes, cols-x)
		if l == levelAVX512 {
			packSegmentAVX512(&dst[x], stride, &src[x], &offsets[0], n, len(offsets))
		} else {
			packSegmentAVX2(&dst[x], stride, &src[x], &offsets[0], n, len(offsets))
		}
	}
}

// epilogueTile32 applies e to a tile.
func epilogueTile32(l cpuLevel, rows, cols int, c []float32, ldc int, e *tileEpilogue) {
	switch l {
	case levelAVX512:
		epilogueTileAVX512(rows, cols, &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	case levelAVX2:
		epilogueTileAVX2(rows, cols, &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	default:
		epilogueTileGo(rows, cols, c, ldc, e)
	}
}

// dotRows is the most rows that are multiplied with rows instead of packed, on
// levels that have code for it.
const dotRows = 8

// hasThin reports whether the level has code for products with few rows.
func hasThin(l cpuLevel) bool { return l >= levelAVX2 }

// dotTile stores the products of rows of a, at most dotStep, with cols rows of b
// in c[i*ldc+j], or adds them with acc.
func dotTile(l cpuLevel, rows, k int, a []float32, lda int, b []float32, ldb, cols int, c []float32, ldc int, acc bool) {
	_, _, _ = a[(rows-1)*lda+k-1], b[(cols-1)*ldb+k-1], c[(rows-1)*ldc+cols-1]
	if l == levelAVX512 {
		dotsAVX512(rows, k, &a[0], lda, &b[0], ldb, cols, &c[0], ldc, acc)
	} else {
		dotsAVX2(rows, k, &a[0], lda, &b[0], ldb, cols, &c[0], ldc, acc)
	}
}

// dotStep is the rows of a that dotTile takes at once.
func dotStep(l cpuLevel) int {
	if l == levelAVX512 {
		return 4
	}
	return 2
}

// thinStep is the rows of a that thinTile takes at once.
func thinStep(l cpuLevel) int {
	if l == levelAVX512 {
		return 8
	}
	return 6
}

// thinTile computes one tile from at most thinStep rows of a and a panel of b.
func thinTile(l cpuLevel, rows, k int, a []float32, lda int, b, c []float32, ldc, cols int, acc bool) {
	_, _ = a[(rows-1)*lda+k-1], c[(rows-1)*ldc+cols-1]
	if l == levelAVX512 {
		thinTileAVX512(rows, k, &a[0], lda, &b[0], &c[0], ldc, cols, acc)
	} else {
		thinTileAVX2(rows, k, &a[0], lda, &b[0], &c[0], ldc, cols, acc)
	}
}

// addRows32 adds a·b to c, where b has len(a) rows, ldb apart.
func addRows32(l cpuLevel, c, a, b []float32, ldb int) {
	_ = b[(len(a)-1)*ldb+len(c)-1]
	if l == levelAVX512 {
		addRowsAVX512(len(c), &c[0], &a[0], len(a), &b[0], ldb)
	} else {
		addRowsAVX2(len(c), &c[0], &a[0], len(a), &b[0], ldb)
	}
}
