package rowcol

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// columnGroup is the number of columns that the assembly does at least: its
// accumulators have room for a multiple.
const columnGroup = 16

// foldColumns is ColumnFold by assembly; it reports false where there is none.
func foldColumns(level cpu.Level, kind int, acc, mean []float64, x []float32, ld, rows, ahead int) bool {
	if level < cpu.AVX2 {
		return false
	}
	n := len(acc) &^ (columnGroup - 1)
	if n > 0 {
		foldGroups(level, kind, acc, mean, x, ld, rows, n, ahead)
	}
	if rest := len(acc) - n; rest > 0 {
		var a, m [columnGroup]float64
		copy(a[:], acc[n:])
		if kind == FoldSquares {
			copy(m[:], mean[n:])
		}
		foldGroups(level, kind, a[:], m[:], x[n:], ld, rows, rest, 0)
		copy(acc[n:], a[:])
	}
	return true
}

func foldGroups(level cpu.Level, kind int, acc, mean []float64, x []float32, ld, rows, n, ahead int) {
	wide := level == cpu.AVX512
	switch {
	case kind == FoldSum && wide:
		columnSumAVX512(&acc[0], &x[0], ld, rows, n, ahead)
	case kind == FoldSum:
		columnSumAVX2(&acc[0], &x[0], ld, rows, n, ahead)
	case kind == FoldProd && wide:
		columnProdAVX512(&acc[0], &x[0], ld, rows, n, ahead)
	case kind == FoldProd:
		columnProdAVX2(&acc[0], &x[0], ld, rows, n, ahead)
	case wide:
		columnSquaresAVX512(&acc[0], &mean[0], &x[0], ld, rows, n, ahead)
	default:
		columnSquaresAVX2(&acc[0], &mean[0], &x[0], ld, rows, n, ahead)
	}
}

// extremeColumns is ColumnExtreme by assembly; it reports false where there is none.
func extremeColumns(level cpu.Level, least bool, acc, x []float32, ld, rows, ahead int) bool {
	if level < cpu.AVX2 {
		return false
	}
	n := len(acc) &^ (columnGroup - 1)
	if n > 0 {
		extremeGroups(level, least, acc, x, ld, rows, n, ahead)
	}
	if rest := len(acc) - n; rest > 0 {
		var a [columnGroup]float32
		copy(a[:], acc[n:])
		extremeGroups(level, least, a[:], x[n:], ld, rows, rest, 0)
		copy(acc[n:], a[:])
	}
	return true
}

func extremeGroups(level cpu.Level, least bool, acc, x []float32, ld, rows, n, ahead int) {
	wide := level == cpu.AVX512
	switch {
	case least && wide:
		columnMinAVX512(&acc[0], &x[0], ld, rows, n, ahead)
	case least:
		columnMinAVX2(&acc[0], &x[0], ld, rows, n, ahead)
	case wide:
		columnMaxAVX512(&acc[0], &x[0], ld, rows, n, ahead)
	default:
		columnMaxAVX2(&acc[0], &x[0], ld, rows, n, ahead)
	}
}

// The functions here reduce rows that are not empty; they report false where
// there is no assembly.

func rowsSumFast(level cpu.Level, acc []float64, x []float32, n, ahead int) bool {
	if level < cpu.AVX2 {
		return false
	}
	if level == cpu.AVX512 {
		rowSumsAVX512(&acc[0], &x[0], n, len(acc), ahead)
	} else {
		rowSumsAVX2(&acc[0], &x[0], n, len(acc), ahead)
	}
	return true
}

func rowsSquaresFast(level cpu.Level, acc, mean []float64, x []float32, n, ahead int) bool {
	if level < cpu.AVX2 {
		return false
	}
	if level == cpu.AVX512 {
		rowSquaresAVX512(&acc[0], &mean[0], &x[0], n, len(acc), ahead)
	} else {
		rowSquaresAVX2(&acc[0], &mean[0], &x[0], n, len(acc), ahead)
	}
	return true
}

func rowsExtremeFast(level cpu.Level, least bool, acc, x []float32, n int) bool {
	ahead := RowsAhead(n, len(acc))
	switch {
	case level < cpu.AVX2:
		return false
	case least && level == cpu.AVX512:
		rowMinAVX512(&acc[0], &x[0], n, len(acc), ahead)
	case least:
		rowMinAVX2(&acc[0], &x[0], n, len(acc), ahead)
	case level == cpu.AVX512:
		rowMaxAVX512(&acc[0], &x[0], n, len(acc), ahead)
	default:
		rowMaxAVX2(&acc[0], &x[0], n, len(acc), ahead)
	}
	return true
}

// BestFast sets idx to the positions of the extremes of x, seen as [?, n, inner].
// It reports false where there is no assembly or little to do. Extremes and
// positions of a strip of columns stay in registers and on the stack while its
// rows pass.
func BestFast(level cpu.Level, least bool, idx []int64, x []float32, n, inner int) bool {
	if level < cpu.AVX2 || inner == 1 && n < 2*argLanes || n < 2 || n-1 > 1<<31-1 {
		return false
	}
	for ; len(idx) > 0; x, idx = x[n*inner:], idx[inner:] {
		if inner == 1 {
			idx[0] = bestOfRow(level, least, x[:n])
			continue
		}
		for c := 0; c < inner; c += argStrip {
			var acc [argStrip]float32
			var index [argStrip]int32
			k := min(argStrip, inner-c)
			copy(acc[:k], x[c:])
			argColumns(level, least, &acc, &index, x[inner+c:n*inner], inner, n-1, k)
			for i, v := range index[:k] {
				idx[c+i] = int64(v)
			}
		}
	}
	return true
}

// bestOfRow returns the first position of the extreme of a row of 2·argLanes
// elements or more.
func bestOfRow(level cpu.Level, least bool, x []float32) int64 {
	var acc [argStrip]float32
	var index [argStrip]int32
	copy(acc[:argLanes], x)
	rows := len(x)/argLanes - 1
	argColumns(level, least, &acc, &index, x[argLanes:], argLanes, rows, argLanes)
	at, e := int64(index[0])*argLanes, acc[0]
	for i, v := range acc[1:argLanes] {
		p := int64(index[1+i])*argLanes + int64(1+i)
		if v == e || v != v && e != e {
			at = min(at, p)
		} else if e == e && ExtremeOf(least, e, v) != e {
			at, e = p, v
		}
	}
	for i := (rows + 1) * argLanes; i < len(x); i++ {
		if v := x[i]; e == e && (v != v || ExtremeOf(least, e, v) != e) {
			at, e = int64(i), v
		}
	}
	return at
}

// argColumns goes through rows of x, ld elements apart, for n columns, whose first
// elements acc holds already.
func argColumns(level cpu.Level, least bool, acc *[argStrip]float32, index *[argStrip]int32, x []float32, ld, rows, n int) {
	_ = x[(rows-1)*ld+n-1]
	wide := level == cpu.AVX512
	switch {
	case least && wide:
		columnArgMinAVX512(&acc[0], &index[0], &x[0], ld, rows, n, 0)
	case least:
		columnArgMinAVX2(&acc[0], &index[0], &x[0], ld, rows, n, 0)
	case wide:
		columnArgMaxAVX512(&acc[0], &index[0], &x[0], ld, rows, n, 0)
	default:
		columnArgMaxAVX2(&acc[0], &index[0], &x[0], ld, rows, n, 0)
	}
}
