//go:build !amd64

package attention

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// Where tiles of the matrix product do the work (NEON): rows and lanes of a tile, and terms of a
// sum at once, whose panel, 8 KiB, is on the stack.
const (
	attentionTile  = 8
	attentionDepth = 256
)

// With NEON the products are tiles of the matrix product, whose panels are made of
// a few rows of keys or values at a time; the rest runs in Go.

// attentionScores32 packs a few keys over a depth that the panel on the stack
// holds, for all queries of the block at once; from the second depth on the tile
// adds to the scores.
func attentionScores32(l cpu.Level, rows, k int, a []float32, lda int, b, c []float32) {
	var panel [attentionTile * attentionDepth]float32
	for r := 0; r < rows; r += attentionTile {
		n := min(attentionTile, rows-r)
		for p := 0; p < k; p += attentionDepth {
			d := min(attentionDepth, k-p)
			gemm.PackAlong(l, panel[:], attentionTile, a[r*lda+p:], lda, n, d)
			gemm.Tile32(l, n, d, &panel[0], &b[p*attentionTile], attentionTile, &c[r*attentionTile], attentionTile, attentionTile, p > 0, gemm.Fetch{})
		}
	}
}

func attentionValues32(l cpu.Level, rows, k int, a []float32, lda int, b, c, scale []float32) {
	if scale != nil {
		scaleRowsGo(rows, c, scale)
	}
	var panel [attentionTile * attentionDepth]float32
	for r := 0; r < rows; r += attentionTile {
		n := min(attentionTile, rows-r)
		gemm.PackAcross(l, panel[:], attentionTile, a[r:], lda, n, k)
		gemm.Tile32(l, n, k, &panel[0], &b[0], attentionTile, &c[r*attentionTile], attentionTile, attentionTile, scale != nil, gemm.Fetch{})
	}
}

func attentionSoftmax32(_ cpu.Level, rows int, c, state []float32) {
	attentionSoftmaxGo(attentionTile, rows, c, state)
}

func attentionScale32(_ cpu.Level, rows int, c, scale []float32) { scaleRowsGo(rows, c, scale) }

func attentionKeep32(_ cpu.Level, rows int, c, t []float32, at, ldt int) {
	for r := range rows {
		row, bound := c[r*attentionTile:][:attentionTile], t[at+r*ldt:]
		for i := range row {
			if v := bound[i]; !(row[i] <= v) {
				row[i] = v
			}
		}
	}
}

func attentionAdd32(_ cpu.Level, rows int, c, t []float32, _ int) {
	for i, v := range t[:rows*attentionTile] {
		c[i] += v
	}
}

func (*byteScores) assembly(cpu.Level) {
	panic("kernel: no assembly for this processor")
}

func (*byteValues) assembly(cpu.Level) {
	panic("kernel: no assembly for this processor")
}
