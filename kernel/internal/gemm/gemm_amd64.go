package gemm

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

//go:generate go run -C ../../../internal/generators/asmgen ./gemm

// PanelLanes is the floats that packing moves at once.
func PanelLanes(l cpu.Level) int {
	switch l {
	case cpu.AVX512, cpu.Pairs:
		return 16
	case cpu.AVX2:
		return 8
	}
	return 1
}

// Tile32 computes one tile of a product from a panel of a and rows of b, and
// asks for memory that is needed soon.
func Tile32(l cpu.Level, rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool, ahead Fetch) {
	switch l {
	case cpu.Pairs:
		gemmTilePairs(rows, k, a, b, ldb, c, ldc, cols, acc, ahead.At, ahead.Step)
	case cpu.AVX512:
		gemmTileAVX512(rows, k, a, b, ldb, c, ldc, cols, acc, ahead.At, ahead.Step)
	default:
		gemmTileAVX2(rows, k, a, b, ldb, c, ldc, cols, acc, ahead.At, ahead.Step)
	}
}

// gemmTilePack32 is Tile32 for whole rows of b, which it copies to pack.
func gemmTilePack32(l cpu.Level, rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool, ahead Fetch, pack []float32) {
	_ = pack[2*PanelLanes(l)*k-1]
	switch l {
	case cpu.Pairs:
		gemmTilePackPairs(rows, k, a, b, ldb, c, ldc, acc, ahead.At, ahead.Step, &pack[0])
	case cpu.AVX512:
		gemmTilePackAVX512(rows, k, a, b, ldb, c, ldc, acc, ahead.At, ahead.Step, &pack[0])
	default:
		gemmTilePackAVX2(rows, k, a, b, ldb, c, ldc, acc, ahead.At, ahead.Step, &pack[0])
	}
}

// hasStrip reports whether the level has code for strips, and for tiles that
// pack their operands.
func hasStrip(l cpu.Level) bool { return l >= cpu.AVX2 }

// gemmStrip32 computes c = a·b, or c += a·b with acc, for a panel of rows and
// all columns: those from PanelLanes·2·i on of row p of b are at b[i*step+p*ldb].
func gemmStrip32(l cpu.Level, rows, k int, a []float32, lda int, b []float32, ldb, step int, c []float32, ldc, cols int, acc bool) {
	nr := 2 * PanelLanes(l)
	tail := (cols - 1) / nr
	_, _, _ = a[(rows-1)*lda+k-1], b[tail*step+(k-1)*ldb+cols-tail*nr-1], c[(rows-1)*ldc+cols-1]
	switch l {
	case cpu.Pairs:
		gemmStripPairs(rows, k, &a[0], lda, &b[0], ldb, step, &c[0], ldc, cols, acc)
	case cpu.AVX512:
		gemmStripAVX512(rows, k, &a[0], lda, &b[0], ldb, step, &c[0], ldc, cols, acc)
	default:
		gemmStripAVX2(rows, k, &a[0], lda, &b[0], ldb, step, &c[0], ldc, cols, acc)
	}
}

// PackAlong stores dst[p*stride+r] = src[r*ld+p] for at most PanelLanes rows.
func PackAlong(l cpu.Level, dst []float32, stride int, src []float32, ld, rows, k int) {
	lanes := PanelLanes(l)
	_, _ = dst[(k-1)*stride+lanes-1], src[(rows-1)*ld+k-1]
	if l >= cpu.AVX512 {
		packTransposeAVX512(&dst[0], stride, &src[0], ld, rows, k)
	} else {
		packTransposeAVX2(&dst[0], stride, &src[0], ld, rows, k)
	}
}

// PackAcross stores dst[p*stride+r] = src[p*ld+r] for at most twice PanelLanes
// columns.
func PackAcross(l cpu.Level, dst []float32, stride int, src []float32, ld, cols, k int) {
	_, _ = dst[(k-1)*stride+operand.RoundUp(cols, PanelLanes(l))-1], src[(k-1)*ld+cols-1]
	if l >= cpu.AVX512 {
		packCopyAVX512(&dst[0], stride, &src[0], ld, cols, k)
	} else {
		packCopyAVX2(&dst[0], stride, &src[0], ld, cols, k)
	}
}

// packRun stores dst[p*stride+r] = src[offsets[p]+r] for any number of columns.
func packRun(l cpu.Level, dst []float32, stride int, src []float32, offsets []int64, cols int) {
	lanes := PanelLanes(l)
	for x := 0; x < cols; x += lanes {
		n := min(lanes, cols-x)
		if l >= cpu.AVX512 {
			packSegmentAVX512(&dst[x], stride, &src[x], &offsets[0], n, len(offsets))
		} else {
			packSegmentAVX2(&dst[x], stride, &src[x], &offsets[0], n, len(offsets))
		}
	}
}

// epilogueTile32 applies e to a tile.
func epilogueTile32(l cpu.Level, rows, cols int, c []float32, ldc int, e *TileEpilogue) {
	switch l {
	case cpu.AVX512, cpu.Pairs:
		epilogueTileAVX512(rows, cols, &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	case cpu.AVX2:
		epilogueTileAVX2(rows, cols, &c[0], ldc, (*byte)(unsafe.Pointer(e)))
	default:
		EpilogueTileGo(rows, cols, c, ldc, e)
	}
}

// DotRows is the most rows that are multiplied with rows instead of packed, on
// levels that have code for it.
const DotRows = 8

// HasThin reports whether the level has code for products with few rows.
func HasThin(l cpu.Level) bool { return l >= cpu.AVX2 }

// DotTile stores the products of rows of a, at most DotStep, with cols rows of b
// in c[i*ldc+j], or adds them with acc.
func DotTile(l cpu.Level, rows, k int, a []float32, lda int, b []float32, ldb, cols int, c []float32, ldc int, acc bool) {
	_, _, _ = a[(rows-1)*lda+k-1], b[(cols-1)*ldb+k-1], c[(rows-1)*ldc+cols-1]
	if l >= cpu.AVX512 {
		dotsAVX512(rows, k, &a[0], lda, &b[0], ldb, cols, &c[0], ldc, acc)
	} else {
		dotsAVX2(rows, k, &a[0], lda, &b[0], ldb, cols, &c[0], ldc, acc)
	}
}

// DotStep is the rows of a that DotTile takes at once.
func DotStep(l cpu.Level) int {
	if l >= cpu.AVX512 {
		return 4
	}
	return 2
}

// thinStep is the rows of a that thinTile takes at once.
func thinStep(l cpu.Level) int {
	if l >= cpu.AVX512 {
		return 8
	}
	return 6
}

// thinTile computes one tile from at most thinStep rows of a and a panel of b.
func thinTile(l cpu.Level, rows, k int, a []float32, lda int, b, c []float32, ldc, cols int, acc bool) {
	_, _ = a[(rows-1)*lda+k-1], c[(rows-1)*ldc+cols-1]
	switch l {
	case cpu.Pairs:
		thinTilePairs(rows, k, &a[0], lda, &b[0], &c[0], ldc, cols, acc)
	case cpu.AVX512:
		thinTileAVX512(rows, k, &a[0], lda, &b[0], &c[0], ldc, cols, acc)
	default:
		thinTileAVX2(rows, k, &a[0], lda, &b[0], &c[0], ldc, cols, acc)
	}
}

// AddRows32 adds a·b to c, where b has len(a) rows, ldb apart.
func AddRows32(l cpu.Level, c, a, b []float32, ldb int) {
	_ = b[(len(a)-1)*ldb+len(c)-1]
	if l >= cpu.AVX512 {
		addRowsAVX512(len(c), &c[0], &a[0], len(a), &b[0], ldb)
	} else {
		addRowsAVX2(len(c), &c[0], &a[0], len(a), &b[0], ldb)
	}
}
