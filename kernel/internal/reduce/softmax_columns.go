package reduce

import (
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// softmaxColumns computes softmax along the middle dimension of f32 seen as
// [?, n, inner], strip by strip of columns.
type softmaxColumns struct {
	dst, src []float32
	n, inner int
	width    int // columns of a strip
	strips   int // in inner
	logs     bool
}

func newSoftmaxColumns(dst, src []float32, n, inner int, logs bool) softmaxColumns {
	// A strip stays in the second cache from its first pass to its last.
	width := min(inner, softmaxStrip)
	if inner > softmaxStrip {
		width = min(max(softmaxElems()/n&^15, rowcol.RowWidth), softmaxStrip)
	}
	return softmaxColumns{dst: dst, src: src, n: n, inner: inner, width: width, strips: (inner + width - 1) / width, logs: logs}
}

// Do computes strips [lo, hi). A strip is so many columns that their extremes and
// sums stay on the stack; its rows are short runs of memory.
func (j *softmaxColumns) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c := i % j.strips * j.width
		at := i/j.strips*j.n*j.inner + c
		j.strip(cpu.Host.Level, j.dst[at:], j.src[at:], min(j.width, j.inner-c))
	}
}

// strip computes columns of [n, inner].
func (j *softmaxColumns) strip(level cpu.Level, dst, src []float32, columns int) {
	var room [4*softmaxStrip + 16]float32 // from a line on: vectors that cross lines take twice as long
	at := move.ToLine(unsafe.Pointer(&room)) / 4
	high, low := room[at:][:softmaxStrip], room[at+softmaxStrip:][:softmaxStrip]
	scale, zero := room[at+2*softmaxStrip:][:softmaxStrip], room[at+3*softmaxStrip:][:softmaxStrip]
	var sum [softmaxStrip]float64
	copy(high[:columns], src)
	rowcol.ColumnExtreme(level, false, high[:columns], src[min(j.inner, len(src)):], j.inner, j.n-1, 0)
	operand.FillBlock(scale, 1)
	// Several rows that follow each other are done as one, against repeated columns.
	rows := 1
	if columns == j.inner {
		rows = softmaxStrip / columns
	}
	repeat(high[:rows*columns], columns)
	for k := 0; k < j.n; k += rows {
		p, end := k*j.inner, k*j.inner+min(rows, j.n-k)*columns
		rowcol.AffineColumns(level, dst[p:end], src[p:end], high, scale, zero)
		rowcol.ExpShifted(level, dst[p:end], dst[p:end], 0)
	}
	foldBlock(level, rowcol.FoldSum, sum[:columns], nil, dst, j.inner, j.n)
	from := dst
	if j.logs {
		from = src
		for i, s := range sum[:columns] {
			low[i] = float32(-math.Log(s))
		}
	} else {
		for i, s := range sum[:columns] {
			high[i], scale[i] = 0, float32(1/s)
		}
	}
	repeat(high[:rows*columns], columns)
	repeat(low[:rows*columns], columns)
	repeat(scale[:rows*columns], columns)
	for k := 0; k < j.n; k += rows {
		p, end := k*j.inner, k*j.inner+min(rows, j.n-k)*columns
		rowcol.AffineColumns(level, dst[p:end], from[p:end], high, scale, low)
	}
}

// repeat copies the first n elements over the others.
func repeat(x []float32, n int) {
	for n < len(x) {
		n += copy(x[n:], x[:n])
	}
}
