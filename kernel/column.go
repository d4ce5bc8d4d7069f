package kernel

// Reductions of the columns of a matrix of f32. Every column is combined row by
// row, and a row lane by lane, so that every level gives the same bits.

// The kinds of columnFold.
const (
	foldSum = iota
	foldProd
	foldSquares // of the elements less the mean
)

const (
	// rowWidth is the number of lanes of a product or an extreme of a row.
	rowWidth = 64
	// columnStrip is the number of columns whose accumulators stay in the first
	// cache, columnRows that of rows for which they are loaded once.
	columnStrip, columnRows = 2048, 16
)

// columnFold combines rows of x, ld elements apart, with acc, an element for each
// column. mean is what foldSquares subtracts.
func columnFold(level cpuLevel, kind int, acc, mean []float64, x []float32, ld, rows int) {
	if len(acc) == 0 || rows == 0 {
		return
	}
	x = x[:(rows-1)*ld+len(acc)]
	if kind == foldSquares {
		mean = mean[:len(acc)]
	}
	if foldColumns(level, kind, acc, mean, x, ld, rows) {
		return
	}
	for r := range rows {
		row := x[r*ld:][:len(acc)]
		switch kind {
		case foldSum:
			for i, v := range row {
				acc[i] += float64(v)
			}
		case foldProd:
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

// columnExtreme raises acc to the greatest elements of its columns, or lowers it
// to the least. NaN is both and stays.
func columnExtreme(level cpuLevel, least bool, acc, x []float32, ld, rows int) {
	if len(acc) == 0 || rows == 0 {
		return
	}
	x = x[:(rows-1)*ld+len(acc)]
	if extremeColumns(level, least, acc, x, ld, rows) {
		return
	}
	for r := range rows {
		for i, v := range x[r*ld:][:len(acc)] {
			acc[i] = extremeOf(least, acc[i], v)
		}
	}
}

// extremeOf is a unless b is better or NaN.
func extremeOf[T scalar](least bool, a, b T) T {
	if b != b || !least && b > a || least && b < a {
		return b
	}
	return a
}

// inBlocks calls f for the parts of a matrix of rows·n elements that a reduction
// of columns does one after the other: columns from c on to end, rows r on.
func inBlocks(rows, n int, f func(c, end, r, rows int)) {
	group := columnRows
	if n <= rowWidth {
		group = rows // the accumulators stay in registers
	}
	for c := 0; c < n; c += columnStrip {
		for r := 0; r < rows; r += group {
			f(c, min(c+columnStrip, n), r, min(group, rows-r))
		}
	}
}

// rowProduct returns the product of a row.
func rowProduct(level cpuLevel, x []float32) float64 {
	var acc [rowWidth]float64
	fillSlice(acc[:], 1)
	rows := len(x) / rowWidth
	columnFold(level, foldProd, acc[:], nil, x, rowWidth, rows)
	rest := x[rows*rowWidth:]
	columnFold(level, foldProd, acc[:len(rest)], nil, rest, rowWidth, min(len(rest), 1))
	for n := rowWidth / 2; n > 0; n /= 2 {
		for i := range n {
			acc[i] *= acc[i+n]
		}
	}
	return acc[0]
}

// rowExtreme returns the greatest or the least element of a row that is not
// empty, NaN where there is one.
func rowExtreme(level cpuLevel, least bool, x []float32) float32 {
	if v, ok := rowExtremeFast(level, least, x); ok {
		return v
	}
	var l [rowWidth]float32
	fillBlock(l[:], x[0])
	for i, v := range x {
		l[i%rowWidth] = extremeOf(least, l[i%rowWidth], v)
	}
	for n := rowWidth / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] = extremeOf(least, l[i], l[i+n])
		}
	}
	return l[0]
}
