//go:build !amd64

package kernel

// panelLanes is the floats that packing moves at once.
func panelLanes(cpuLevel) int { return 8 }

// packAlong stores dst[p*stride+r] = src[r*ld+p] for at most panelLanes rows.
func packAlong(_ cpuLevel, dst []float32, stride int, src []float32, ld, rows, k int) {
	for r := range rows {
		for p, v := range src[r*ld : r*ld+k] {
			dst[p*stride+r] = v
		}
	}
}

// packAcross stores dst[p*stride+r] = src[p*ld+r] for at most panelLanes columns.
func packAcross(_ cpuLevel, dst []float32, stride int, src []float32, ld, cols, k int) {
	for p := range k {
		copy(dst[p*stride:], src[p*ld:p*ld+cols])
	}
}

// packRun stores dst[p*stride+r] = src[offsets[p]+r] for any number of columns.
func packRun(_ cpuLevel, dst []float32, stride int, src []float32, offsets []int64, cols int) {
	for p, o := range offsets {
		copy(dst[p*stride:], src[o:int(o)+cols])
	}
}

func epilogueTile32(_ cpuLevel, rows, cols int, c []float32, ldc int, e *tileEpilogue) {
	epilogueTileGo(rows, cols, c, ldc, e)
}

func hasStrip(cpuLevel) bool { return false }

func gemmStrip32(_ cpuLevel, rows, k int, a []float32, lda int, b []float32, ldb, step int, c []float32, ldc, cols int, acc bool) {
	panic("kernel: no assembly for this processor")
}

func gemmTilePack32(_ cpuLevel, rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool, ahead fetch, pack []float32) {
	panic("kernel: no assembly for this processor")
}

// Thin products run in Go on these processors.

const dotRows = 0

func hasThin(cpuLevel) bool { return false }

func dotStep(cpuLevel) int { return 1 }

func dotTile(_ cpuLevel, rows, k int, a []float32, lda int, b []float32, ldb, cols int, c []float32, ldc int, acc bool) {
	for r := range rows {
		for q := range cols {
			v := dot(a[r*lda:r*lda+k], b[q*ldb:q*ldb+k])
			if acc {
				v += c[r*ldc+q]
			}
			c[r*ldc+q] = v
		}
	}
}

func thinStep(cpuLevel) int { return 1 }

func thinTile(cpuLevel, int, int, []float32, int, []float32, []float32, int, int, bool) {
	panic("kernel: no assembly for this processor")
}

func addRows32(_ cpuLevel, c, a, b []float32, ldb int) { addRows(c, a, b, ldb, 0) }
