package rowcol

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Reductions of the columns of a matrix of f32. Every column is combined row by
// row, and a row lane by lane, so that every level gives the same bits.

// The kinds of ColumnFold.
const (
	FoldSum = iota
	FoldProd
	FoldSquares // of the elements less the mean
)

// RowsAhead returns the distance in bytes at which to ask for rows of n elements.
func RowsAhead(n, rows int) int {
	if n*rows < FarLen() {
		return 0
	}
	return RowAhead
}

// ColumnFold combines rows of x, ld elements apart, with acc, an element for each
// column. mean is the number that FoldSquares subtracts, ahead is as in InBlocks.
// A row is added to all columns at once: rows are read in order, and the
// accumulators, one a column, stay in the first cache or, in assembly, in
// registers over the rows.
func ColumnFold(level cpu.Level, kind int, acc, mean []float64, x []float32, ld, rows, ahead int) {
	if len(acc) == 0 || rows == 0 {
		return
	}
	x = x[:(rows-1)*ld+len(acc)]
	if kind == FoldSquares {
		mean = mean[:len(acc)]
	}
	if cpu.X86 && foldColumns(level, kind, acc, mean, x, ld, rows, ahead) {
		return
	}
	for r := range rows {
		row := x[r*ld:][:len(acc)]
		switch kind {
		case FoldSum:
			for i, v := range row {
				acc[i] += float64(v)
			}
		case FoldProd:
			for i, v := range row {
				acc[i] *= float64(v)
			}
		default:
			for i, v := range row {
				d := float64(v) - mean[i]
				acc[i] += float64(d * d)
			}
		}
	}
}

// ColumnExtreme raises acc to the greatest elements of its columns, or lowers it
// to the least. NaN is both and stays. ahead is as in InBlocks. Rows are read in
// order, as in ColumnFold.
func ColumnExtreme(level cpu.Level, least bool, acc, x []float32, ld, rows, ahead int) {
	if len(acc) == 0 || rows == 0 {
		return
	}
	x = x[:(rows-1)*ld+len(acc)]
	if cpu.X86 && extremeColumns(level, least, acc, x, ld, rows, ahead) {
		return
	}
	for r := range rows {
		for i, v := range x[r*ld:][:len(acc)] {
			acc[i] = ExtremeOf(least, acc[i], v)
		}
	}
}

// ExtremeOf is a unless b is better or NaN.
func ExtremeOf[T move.Scalar](least bool, a, b T) T {
	if b != b || !least && b > a || least && b < a {
		return b
	}
	return a
}

// InBlocks calls f for the parts of a matrix of rows·n elements, ld apart, that a
// reduction of columns does one after the other: columns from c on to end, rows r
// on, prefetching so many bytes ahead.
func InBlocks(rows, n, ld int, f func(c, end, r, rows, ahead int)) {
	strip, group, ahead := columnStrip(), columnRows, 0
	if rows*ld >= FarLen() {
		strip, group, ahead = farStrip(), farRows, blockAhead
	}
	if n <= RowWidth {
		group = rows // the accumulators stay in registers
		if ahead > 0 && ld == n {
			ahead = RowAhead
		}
	}
	for c := 0; c < n; c += strip {
		for r := 0; r < rows; r += group {
			f(c, min(c+strip, n), r, min(group, rows-r), ahead)
		}
	}
}

// RowProduct returns the product of a row. It is a fold of columns with the row
// cut into lines of RowWidth, halved at the end: as many chains of products as
// there are lanes, whatever the processor.
func RowProduct(level cpu.Level, x []float32) float64 {
	var acc [RowWidth]float64
	operand.FillSlice(acc[:], 1)
	rows := len(x) / RowWidth
	ColumnFold(level, FoldProd, acc[:], nil, x, RowWidth, rows, RowsAhead(RowWidth, rows))
	rest := x[rows*RowWidth:]
	ColumnFold(level, FoldProd, acc[:len(rest)], nil, rest, RowWidth, min(len(rest), 1), 0)
	for n := RowWidth / 2; n > 0; n /= 2 {
		for i := range n {
			acc[i] *= acc[i+n]
		}
	}
	return acc[0]
}

// RowExtreme returns the greatest or the least element of a row that is not
// empty, NaN where there is one.
func RowExtreme(level cpu.Level, least bool, x []float32) float32 {
	acc := [1]float32{x[0]}
	RowsExtreme(level, least, acc[:], x, len(x))
	return acc[0]
}

// RowsExtreme raises acc to the greatest elements of rows of n, or lowers it to
// the least. RowWidth lanes, which are halved at the end, are the order of every
// processor.
func RowsExtreme(level cpu.Level, least bool, acc, x []float32, n int) {
	x = x[:len(acc)*n]
	if len(x) == 0 || cpu.X86 && rowsExtremeFast(level, least, acc, x, n) {
		return
	}
	for r := range acc {
		row := x[r*n:][:n]
		var l [RowWidth]float32
		operand.FillBlock(l[:], row[0])
		for i, v := range row {
			l[i%RowWidth] = ExtremeOf(least, l[i%RowWidth], v)
		}
		for n := RowWidth / 2; n > 0; n /= 2 {
			for i := range n {
				l[i] = ExtremeOf(least, l[i], l[i+n])
			}
		}
		acc[r] = ExtremeOf(least, acc[r], l[0])
	}
}
