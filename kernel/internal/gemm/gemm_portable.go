//go:build !amd64

package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// PanelLanes is the floats that packing moves at once.
func PanelLanes(cpu.Level) int { return 8 }

// PackAlong stores dst[p*stride+r] = src[r*ld+p] for at most PanelLanes rows, and
// zeros after them.
func PackAlong(_ cpu.Level, dst []float32, stride int, src []float32, ld, rows, k int) {
	for p := range k {
		clear(dst[p*stride+rows : p*stride+8])
	}
	for r := range rows {
		for p, v := range src[r*ld : r*ld+k] {
			dst[p*stride+r] = v
		}
	}
}

// PackAcross stores dst[p*stride+r] = src[p*ld+r] for all columns, and zeros up to a
// multiple of PanelLanes.
func PackAcross(_ cpu.Level, dst []float32, stride int, src []float32, ld, cols, k int) {
	whole := (cols + 7) / 8 * 8
	for p := range k {
		d := dst[p*stride:][:whole]
		clear(d[copy(d, src[p*ld:p*ld+cols]):])
	}
}

// packRun stores dst[p*stride+r] = src[offsets[p]+r] for any number of columns.
func packRun(_ cpu.Level, dst []float32, stride int, src []float32, offsets []int64, cols int) {
	for p, o := range offsets {
		copy(dst[p*stride:], src[o:int(o)+cols])
	}
}

func hasStrip(cpu.Level) bool { return false }

func gemmStrip32(_ cpu.Level, rows, k int, a []float32, lda int, b []float32, ldb, step int, c []float32, ldc, cols int, acc bool) {
	panic("kernel: no assembly for this processor")
}

func gemmTilePack32(_ cpu.Level, rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool, ahead Fetch, pack []float32) {
	panic("kernel: no assembly for this processor")
}

// Thin products run in Go on these processors.

const DotRows = 0

// HasThin reports whether the level has assembly for products of few rows.
func HasThin(cpu.Level) bool { return false }

// DotStep is the rows of a that DotTile takes at once.
func DotStep(cpu.Level) int { return 1 }

// DotTile stores the products of rows of a with cols rows of b, or adds them with
// acc. The row of a stays in the first cache while the rows of b pass.
func DotTile(_ cpu.Level, rows, k int, a []float32, lda int, b []float32, ldb, cols int, c []float32, ldc int, acc bool) {
	for r := range rows {
		for q := range cols {
			v := Dot(a[r*lda:r*lda+k], b[q*ldb:q*ldb+k])
			if acc {
				v += c[r*ldc+q]
			}
			c[r*ldc+q] = v
		}
	}
}

func thinStep(cpu.Level) int { return 1 }

func thinTile(cpu.Level, int, int, []float32, int, []float32, []float32, int, int, bool) {
	panic("kernel: no assembly for this processor")
}

// AddRows32 adds a·b to c, where b has len(a) rows, ldb apart.
func AddRows32(_ cpu.Level, c, a, b []float32, ldb int) { addRows(c, a, b, ldb, 0) }
