package reduce

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// Reduce reduces the dimensions Dims of in[0] (all when empty) with Kind: "sum",
// "prod", "mean", "max", "min", "any" or "all". Whether reduced dimensions are
// kept as 1 shows only in out[0]'s shape. Floats accumulate in float64 in an
// order that depends on the logical shape alone, integers in int64 with wrap
// around; out[0]'s type decides the type of the result. max and min give NaN
// when any element is NaN and panic on no elements.
//
//gofx:kernel
type Reduce struct {
	Kind string
	Dims []int
}

// ScratchBytes implements Scratcher.
func (r Reduce) ScratchBytes(out, in []*array.Array) int {
	n := par.ScratchSize(out[0].Len(), 8) + PartBytes(in[0].Len())
	if reducesAsStored(KindOf(r.Kind), out[0].DType(), in[0].DType()) {
		n += move.DenseBytes(in[0])
	}
	return n
}

// Run implements Step.
func (r Reduce) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	var g Groups
	g.Init(r.Kind, a.Shape(), r.Dims)
	k := KindOf(r.Kind)
	if g.Count == 0 && g.OutLen > 0 && (k == RedMax || k == RedMin) {
		NoElements(r.Kind)
	}
	if !reducesAsStored(k, o.DType(), a.DType()) {
		reduceBlocks(w, k, o, a, &g)
		return
	}
	switch a.DType() {
	case array.F32:
		if k == RedMax || k == RedMin {
			reduceTo[float32, float32](w, k, o, a, &g)
			return
		}
		reduceTo[float32, float64](w, k, o, a, &g)
	case array.F64:
		reduceTo[float64, float64](w, k, o, a, &g)
	default:
		reduceTo[int64, int64](w, k, o, a, &g)
	}
}

// reduceType returns the type in which elements of type in are read for a
// result of type out.
func reduceType(out, in array.DType) array.DType {
	d := move.ScalarOf(in)
	if d == array.I64 && out.IsFloat() {
		return array.F64
	}
	return d
}

// The kinds of reduction.
const (
	redSum = iota
	redMean
	redProd
	RedMax
	RedMin
	redAny
	redAll
)

// KindOf returns the number of a kind of Reduce, and panics for an unknown one.
func KindOf(kind string) int {
	switch kind {
	case "sum":
		return redSum
	case "mean":
		return redMean
	case "prod":
		return redProd
	case "max":
		return RedMax
	case "min":
		return RedMin
	case "any":
		return redAny
	case "all":
		return redAll
	}
	operand.BadOperand("reduce", "unknown kind "+kind)
	return 0
}

// accumulator is the set of types in which reductions accumulate; float32 only
// where nothing is rounded.
type accumulator interface {
	float32 | float64 | int64
}

func reduceTo[T move.Scalar, A accumulator](w *par.Workspace, kind int, o, a *array.Array, g *Groups) {
	x := move.LoadAs[T](w, a)
	acc := par.Scratch[A](w, g.OutLen)
	operand.FillSlice(acc, identity[A](kind))
	reduceSplit(w, kind, acc, x, g)
	finishReduce(kind, o, a.DType(), acc, g.Count)
}

// finishReduce brings accumulators of count elements of type d each to o.
func finishReduce[A accumulator](kind int, o *array.Array, d array.DType, acc []A, count int) {
	switch kind {
	case redMean:
		for i := range acc {
			acc[i] = meanOf(acc[i], count)
		}
	case RedMax, RedMin:
		move.Unorder(d, acc)
	}
	move.SaveAs(o, acc)
}

// meanOf divides a sum; the mean of no elements is NaN, or 0 for integers.
func meanOf[A accumulator](sum A, count int) A {
	if count == 0 {
		if f, ok := any(math.NaN()).(A); ok {
			return f
		}
		return 0
	}
	return sum / A(count)
}

// identity returns the start value of a reduction.
func identity[A accumulator](kind int) A {
	_, isInt := any(A(0)).(int64)
	inf := math.Inf(1)
	switch {
	case kind == redProd || kind == redAll:
		return 1
	case kind == RedMax && isInt:
		lowest := int64(math.MinInt64)
		return A(lowest)
	case kind == RedMin && isInt:
		highest := int64(math.MaxInt64)
		return A(highest)
	case kind == RedMax:
		return A(-inf)
	case kind == RedMin:
		return A(inf)
	}
	return 0
}

// reduceJob reduces a range of the outermost group, which is a kept one.
type reduceJob[T move.Scalar, A accumulator] struct {
	kind int
	acc  []A
	x    []T
	g    Groups
}

// Do implements Job. Goroutines share the outermost dimension, of which each has
// results of its own.
func (j *reduceJob[T, A]) Do(lo, hi int) {
	g := j.g
	in, out := len(j.x)/g.Size[0], g.Step[0]
	g.Size[0] = hi - lo
	reduceInto(j.kind, j.acc[lo*out:hi*out], j.x[lo*in:hi*in], &g)
}

// reduceSplit is reduceInto, on several threads where the outermost group is
// kept, or is reduced to a row, and there is enough to do. Every result is
// computed by one thread, so the number of threads does not show.
func reduceSplit[T move.Scalar, A accumulator](w *par.Workspace, kind int, acc []A, x []T, g *Groups) {
	if w.Threads <= 1 || len(x) < 2*move.Grain {
		reduceInto(kind, acc, x, g)
		return
	}
	if g.N == 1 && g.Step[0] == 0 {
		reduceLong(w, kind, acc, x)
		return
	}
	if g.Step[0] == 0 {
		if g.N == 2 {
			j := par.TakeJob[blockJob[T, A]](w)
			*j = blockJob[T, A]{kind, acc, x, g.Size[0]}
			w.Parallel(len(acc), max(rowcol.RowWidth, move.Grain*len(acc)/len(x)), j)
			par.PutJob(w, j)
			return
		}
		reduceInto(kind, acc, x, g)
		return
	}
	j := par.TakeJob[reduceJob[T, A]](w)
	*j = reduceJob[T, A]{kind, acc, x, *g}
	w.Parallel(g.Size[0], max(move.Grain*g.Size[0]/len(x), 1), j)
	par.PutJob(w, j)
}

// reduceLong reduces one row of several spans.
func reduceLong[T move.Scalar, A accumulator](w *par.Workspace, kind int, acc []A, x []T) {
	defer w.Release(w.Mark())
	j := par.TakeJob[longJob[T, A]](w)
	*j = longJob[T, A]{kind, identities[A](w, kind, (len(x)-1)/RowSpan+1), x}
	w.Parallel(len(j.parts), 1, j)
	for i := range j.parts {
		acc[0] = reduceRun(kind, acc[0], j.parts[i:i+1])
	}
	par.PutJob(w, j)
}

// longJob reduces spans of a row to an element of parts each.
type longJob[T move.Scalar, A accumulator] struct {
	kind  int
	parts []A
	x     []T
}

// Do implements Job. Each span gives a part, which the caller combines in order.
func (j *longJob[T, A]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		span := j.x[i*RowSpan : min((i+1)*RowSpan, len(j.x))]
		reduceSpans(j.kind, j.parts[i:i+1], span, len(span))
	}
}

// PartBytes is the scratch of the parts of a row of n elements.
func PartBytes(n int) int { return par.ScratchSize(n/RowSpan+1, 8) }

// blockJob reduces a range of the columns of a matrix.
type blockJob[T move.Scalar, A accumulator] struct {
	kind int
	acc  []A
	x    []T
	rows int
}

// Do implements Job.
func (j *blockJob[T, A]) Do(lo, hi int) {
	reduceBlock(j.kind, j.acc[lo:hi], j.x[lo:], len(j.acc), j.rows)
}

// reduceInto reduces row-major x into acc.
func reduceInto[T move.Scalar, A accumulator](kind int, acc []A, x []T, g *Groups) {
	if len(x) > 0 {
		c := newReduceCursor(g)
		feed(&c, kind, acc, x)
	}
}

// reduceCursor is how far a reduction has come: in blocks of rows of n elements,
// kept or reduced, of which each belongs to the results from o on.
type reduceCursor struct {
	n, rows  int
	kept     bool
	outer    Groups
	at       [operand.MaxRank]int
	o        int
	row, col int
}

func newReduceCursor(g *Groups) (c reduceCursor) {
	c.n, c.rows, c.kept, c.outer = g.Block()
	return c
}

// feed reduces the elements that come next. Where rows are reduced, a part of one
// must begin and, unless it ends the row, end at a multiple of RowSpan.
func feed[T move.Scalar, A accumulator](c *reduceCursor, kind int, acc []A, x []T) {
	for len(x) > 0 {
		k := min(len(x), c.n-c.col)
		rows := min(c.rows-c.row, len(x)/c.n)
		switch part := k < c.n; {
		case part && c.kept:
			reduceBlock(kind, acc[c.o+c.col:c.o+c.col+k], x, k, 1)
		case part:
			reduceRows(kind, acc[c.o+c.row:c.o+c.row+1], x[:k], k)
		case c.kept:
			reduceBlock(kind, acc[c.o:c.o+c.n], x, c.n, rows)
		default:
			reduceRows(kind, acc[c.o+c.row:c.o+c.row+rows], x, c.n)
		}
		if k < c.n {
			if c.col += k; c.col == c.n {
				c.col, c.row = 0, c.row+1
			}
		} else {
			k = rows * c.n
			c.row += rows
		}
		if x = x[k:]; c.row == c.rows {
			c.row, c.o = 0, c.outer.next(&c.at, c.o)
		}
	}
}

// reduceRows reduces rows of n elements that follow each other, each to an element
// of acc.
func reduceRows[T move.Scalar, A accumulator](kind int, acc []A, x []T, n int) {
	if n <= RowSpan {
		reduceSpans(kind, acc, x, n)
		return
	}
	for r := range acc {
		for row := x[r*n : (r+1)*n]; len(row) > 0; row = row[min(RowSpan, len(row)):] {
			s := min(RowSpan, len(row))
			reduceSpans(kind, acc[r:r+1], row[:s], s)
		}
	}
}

// reduceSpans is reduceRows for rows of at most a span.
func reduceSpans[T move.Scalar, A accumulator](kind int, acc []A, x []T, n int) {
	if f, ok := any(x).([]float32); ok {
		switch a := any(acc).(type) {
		case []float64:
			if kind == redSum || kind == redMean {
				rowcol.RowsTotal(cpu.Host.Level, a, f, n, rowcol.RowsAhead(n, len(a)))
				return
			}
		case []float32:
			rowcol.RowsExtreme(cpu.Host.Level, kind == RedMin, a, f, n)
			return
		}
	}
	for r := range acc {
		acc[r] = reduceRun(kind, acc[r], x[r*n:(r+1)*n])
	}
}

// reduceBlock reduces rows of x, ld elements apart, each to acc.
func reduceBlock[T move.Scalar, A accumulator](kind int, acc []A, x []T, ld, rows int) {
	if f, ok := any(x).([]float32); ok {
		switch a := any(acc).(type) {
		case []float64:
			if kind == redSum || kind == redMean || kind == redProd {
				foldBlock(cpu.Host.Level, foldKind(kind), a, nil, f, ld, rows)
				return
			}
		case []float32:
			rowcol.InBlocks(rows, len(a), ld, func(c, end, r, rows, ahead int) {
				rowcol.ColumnExtreme(cpu.Host.Level, kind == RedMin, a[c:end], f[r*ld+c:], ld, rows, ahead)
			})
			return
		}
	}
	for r := range rows {
		reduceLanes(kind, acc, x[r*ld:])
	}
}

// foldKind is the kind of fold of a sum, mean or product.
func foldKind(kind int) int {
	if kind == redProd {
		return rowcol.FoldProd
	}
	return rowcol.FoldSum
}

// foldBlock is rowcol.ColumnFold in an order that keeps accumulators in the first cache.
func foldBlock(level cpu.Level, kind int, acc, mean []float64, x []float32, ld, rows int) {
	rowcol.InBlocks(rows, len(acc), ld, func(c, end, r, rows, ahead int) {
		var m []float64
		if mean != nil {
			m = mean[c:end]
		}
		rowcol.ColumnFold(level, kind, acc[c:end], m, x[r*ld+c:], ld, rows, ahead)
	})
}

// reduceLanes combines every element of x with its own accumulator.
func reduceLanes[T move.Scalar, A accumulator](kind int, acc []A, x []T) {
	x = x[:len(acc)]
	switch kind {
	case redSum, redMean:
		for i := range acc {
			acc[i] += A(x[i])
		}
	case redProd:
		for i := range acc {
			acc[i] *= A(x[i])
		}
	case RedMax:
		for i := range acc {
			if v := A(x[i]); v > acc[i] || v != v {
				acc[i] = v
			}
		}
	case RedMin:
		for i := range acc {
			if v := A(x[i]); v < acc[i] || v != v {
				acc[i] = v
			}
		}
	case redAny:
		for i := range acc {
			if x[i] != 0 {
				acc[i] = 1
			}
		}
	case redAll:
		for i := range acc {
			if x[i] == 0 {
				acc[i] = 0
			}
		}
	}
}

// reduceRun combines a run of elements with one accumulator.
func reduceRun[T move.Scalar, A accumulator](kind int, acc A, x []T) A {
	if f, ok := any(x).([]float32); ok && kind == redProd && len(x) >= 4*rowcol.RowWidth {
		return acc * A(rowcol.RowProduct(cpu.Host.Level, f))
	}
	switch kind {
	case redSum, redMean:
		return acc + sumRun[T, A](x)
	case redProd:
		for _, v := range x {
			acc *= A(v)
		}
	case RedMax:
		for _, e := range x {
			if v := A(e); v > acc || v != v {
				acc = v
			}
		}
	case RedMin:
		for _, e := range x {
			if v := A(e); v < acc || v != v {
				acc = v
			}
		}
	case redAny:
		for _, v := range x {
			if v != 0 {
				return 1
			}
		}
	case redAll:
		for _, v := range x {
			if v == 0 {
				return 0
			}
		}
	}
	return acc
}

// sumRun adds pairwise: halves of long runs, four interleaved lanes of short
// ones. The order depends on the length only.
func sumRun[T move.Scalar, A accumulator](x []T) A {
	if len(x) > sumBlock {
		h := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
		return sumRun[T, A](x[:h]) + sumRun[T, A](x[h:])
	}
	var a, b, c, d A
	for ; len(x) >= 4; x = x[4:] {
		a += A(x[0])
		b += A(x[1])
		c += A(x[2])
		d += A(x[3])
	}
	for _, v := range x {
		a += A(v)
	}
	return (a + b) + (c + d)
}
