package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// Reduce reduces the dimensions Dims of in[0] (all when empty) with Kind: "sum",
// "prod", "mean", "max", "min", "any" or "all". Whether reduced dimensions are
// kept as 1 shows only in out[0]'s shape. Floats accumulate in float64 in an
// order that depends on the logical shape alone, integers in int64 with wrap
// around; out[0]'s type decides the type of the result. max and min give NaN
// when any element is NaN and panic on no elements.
type Reduce struct {
	Kind string
	Dims []int
}

// ScratchBytes implements Scratcher.
func (r Reduce) ScratchBytes(out, in []*array.Array) int {
	n := scratchSize(out[0].Len(), 8) + partBytes(in[0].Len())
	if reducesAsStored(kindOf(r.Kind), out[0].DType(), in[0].DType()) {
		n += denseBytes(in[0])
	}
	return n
}

// Run implements Step.
func (r Reduce) Run(w *Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	var g groups
	g.init(r.Kind, a.Shape(), r.Dims)
	k := kindOf(r.Kind)
	if g.count == 0 && g.outLen > 0 && (k == redMax || k == redMin) {
		noElements(r.Kind)
	}
	if !reducesAsStored(k, o.DType(), a.DType()) {
		reduceBlocks(w, k, o, a, &g)
		return
	}
	switch a.DType() {
	case array.F32:
		if k == redMax || k == redMin {
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
	d := scalarOf(in)
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
	redMax
	redMin
	redAny
	redAll
)

func kindOf(kind string) int {
	switch kind {
	case "sum":
		return redSum
	case "mean":
		return redMean
	case "prod":
		return redProd
	case "max":
		return redMax
	case "min":
		return redMin
	case "any":
		return redAny
	case "all":
		return redAll
	}
	badOperand("reduce", "unknown kind "+kind)
	return 0
}

// accumulator is the set of types in which reductions accumulate; float32 only
// where nothing is rounded.
type accumulator interface {
	float32 | float64 | int64
}

func reduceTo[T scalar, A accumulator](w *Workspace, kind int, o, a *array.Array, g *groups) {
	x := loadAs[T](w, a)
	acc := Scratch[A](w, g.outLen)
	fillSlice(acc, identity[A](kind))
	reduceSplit(w, kind, acc, x, g)
	finishReduce(kind, o, a.DType(), acc, g.count)
}

// finishReduce brings accumulators of count elements of type d each to o.
func finishReduce[A accumulator](kind int, o *array.Array, d array.DType, acc []A, count int) {
	switch kind {
	case redMean:
		for i := range acc {
			acc[i] = meanOf(acc[i], count)
		}
	case redMax, redMin:
		unorder(d, acc)
	}
	saveAs(o, acc)
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
	case kind == redMax && isInt:
		lowest := int64(math.MinInt64)
		return A(lowest)
	case kind == redMin && isInt:
		highest := int64(math.MaxInt64)
		return A(highest)
	case kind == redMax:
		return A(-inf)
	case kind == redMin:
		return A(inf)
	}
	return 0
}

// reduceJob reduces a range of the outermost group, which is a kept one.
type reduceJob[T scalar, A accumulator] struct {
	kind int
	acc  []A
	x    []T
	g    groups
}

// Do implements Job.
func (j *reduceJob[T, A]) Do(lo, hi int) {
	g := j.g
	in, out := len(j.x)/g.size[0], g.step[0]
	g.size[0] = hi - lo
	reduceInto(j.kind, j.acc[lo*out:hi*out], j.x[lo*in:hi*in], &g)
}

// reduceSplit is reduceInto, on several threads where the outermost group is
// kept, or is reduced to a row, and there is enough to do. Every result is
// computed by one thread, so the number of threads does not show.
func reduceSplit[T scalar, A accumulator](w *Workspace, kind int, acc []A, x []T, g *groups) {
	if w.Threads <= 1 || len(x) < 2*moveGrain {
		reduceInto(kind, acc, x, g)
		return
	}
	if g.n == 1 && g.step[0] == 0 {
		reduceLong(w, kind, acc, x)
		return
	}
	if g.step[0] == 0 {
		if g.n == 2 {
			j := takeJob[blockJob[T, A]](w)
			*j = blockJob[T, A]{kind, acc, x, g.size[0]}
			w.Parallel(len(acc), max(rowWidth, moveGrain*len(acc)/len(x)), j)
			putJob(w, j)
			return
		}
		reduceInto(kind, acc, x, g)
		return
	}
	j := takeJob[reduceJob[T, A]](w)
	*j = reduceJob[T, A]{kind, acc, x, *g}
	w.Parallel(g.size[0], max(moveGrain*g.size[0]/len(x), 1), j)
	putJob(w, j)
}

// reduceLong reduces one row of several spans.
func reduceLong[T scalar, A accumulator](w *Workspace, kind int, acc []A, x []T) {
	defer w.Release(w.Mark())
	j := takeJob[longJob[T, A]](w)
	*j = longJob[T, A]{kind, identities[A](w, kind, (len(x)-1)/rowSpan+1), x}
	w.Parallel(len(j.parts), 1, j)
	for i := range j.parts {
		acc[0] = reduceRun(kind, acc[0], j.parts[i:i+1])
	}
	putJob(w, j)
}

// longJob reduces spans of a row to an element of parts each.
type longJob[T scalar, A accumulator] struct {
	kind  int
	parts []A
	x     []T
}

// Do implements Job.
func (j *longJob[T, A]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		span := j.x[i*rowSpan : min((i+1)*rowSpan, len(j.x))]
		reduceSpans(j.kind, j.parts[i:i+1], span, len(span))
	}
}

// partBytes is the scratch of the parts of a row of n elements.
func partBytes(n int) int { return scratchSize(n/rowSpan+1, 8) }

// blockJob reduces a range of the columns of a matrix.
type blockJob[T scalar, A accumulator] struct {
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
func reduceInto[T scalar, A accumulator](kind int, acc []A, x []T, g *groups) {
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
	outer    groups
	at       [maxRank]int
	o        int
	row, col int
}

func newReduceCursor(g *groups) (c reduceCursor) {
	c.n, c.rows, c.kept, c.outer = g.block()
	return c
}

// feed reduces the elements that come next. Where rows are reduced, a part of one
// must begin and, unless it ends the row, end at a multiple of rowSpan.
func feed[T scalar, A accumulator](c *reduceCursor, kind int, acc []A, x []T) {
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

// rowSpan is the elements of a row that are reduced at a time: of a longer one,
// several goroutines reduce spans, or one as it computes them.
const rowSpan = 1 << 15

// reduceRows reduces rows of n elements that follow each other, each to an element
// of acc.
func reduceRows[T scalar, A accumulator](kind int, acc []A, x []T, n int) {
	if n <= rowSpan {
		reduceSpans(kind, acc, x, n)
		return
	}
	for r := range acc {
		for row := x[r*n : (r+1)*n]; len(row) > 0; row = row[min(rowSpan, len(row)):] {
			s := min(rowSpan, len(row))
			reduceSpans(kind, acc[r:r+1], row[:s], s)
		}
	}
}

// reduceSpans is reduceRows for rows of at most a span.
func reduceSpans[T scalar, A accumulator](kind int, acc []A, x []T, n int) {
	if f, ok := any(x).([]float32); ok {
		switch a := any(acc).(type) {
		case []float64:
			if kind == redSum || kind == redMean {
				rowsTotal(cpu.level, a, f, n, rowsAhead(n, len(a)))
				return
			}
		case []float32:
			rowsExtreme(cpu.level, kind == redMin, a, f, n)
			return
		}
	}
	for r := range acc {
		acc[r] = reduceRun(kind, acc[r], x[r*n:(r+1)*n])
	}
}

// reduceBlock reduces rows of x, ld elements apart, each to acc.
func reduceBlock[T scalar, A accumulator](kind int, acc []A, x []T, ld, rows int) {
	if f, ok := any(x).([]float32); ok {
		switch a := any(acc).(type) {
		case []float64:
			if kind == redSum || kind == redMean || kind == redProd {
				foldBlock(cpu.level, foldKind(kind), a, nil, f, ld, rows)
				return
			}
		case []float32:
			inBlocks(rows, len(a), ld, func(c, end, r, rows, ahead int) {
				columnExtreme(cpu.level, kind == redMin, a[c:end], f[r*ld+c:], ld, rows, ahead)
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
		return foldProd
	}
	return foldSum
}

// foldBlock is columnFold in an order that keeps accumulators in the first cache.
func foldBlock(level cpuLevel, kind int, acc, mean []float64, x []float32, ld, rows int) {
	inBlocks(rows, len(acc), ld, func(c, end, r, rows, ahead int) {
		var m []float64
		if mean != nil {
			m = mean[c:end]
		}
		columnFold(level, kind, acc[c:end], m, x[r*ld+c:], ld, rows, ahead)
	})
}

// reduceLanes combines every element of x with its own accumulator.
func reduceLanes[T scalar, A accumulator](kind int, acc []A, x []T) {
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
	case redMax:
		for i := range acc {
			if v := A(x[i]); v > acc[i] || v != v {
				acc[i] = v
			}
		}
	case redMin:
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
func reduceRun[T scalar, A accumulator](kind int, acc A, x []T) A {
	if f, ok := any(x).([]float32); ok && kind == redProd && len(x) >= 4*rowWidth {
		return acc * A(rowProduct(cpu.level, f))
	}
	switch kind {
	case redSum, redMean:
		return acc + sumRun[T, A](x)
	case redProd:
		for _, v := range x {
			acc *= A(v)
		}
	case redMax:
		for _, e := range x {
			if v := A(e); v > acc || v != v {
				acc = v
			}
		}
	case redMin:
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

// sumBlock is the length of runs that sumRun adds in four lanes.
const sumBlock = 256

// sumRun adds pairwise: halves of long runs, four interleaved lanes of short
// ones. The order depends on the length only.
func sumRun[T scalar, A accumulator](x []T) A {
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
