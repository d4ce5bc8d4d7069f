package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QAdd adds two quantised tensors of one type, which broadcast: in is a, its scale
// and zero point, b, its scale and zero point, the result's scale and zero point.
// The result is round(a·sa/sy + b·sb/sy) + zero, saturated; with ReLU it is not
// below the zero point.
//
//gofx:kernel
type QAdd struct{ ReLU bool }

// ScratchBytes implements Scratcher.
func (QAdd) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.LoadBytes(in[3])
}

// Run implements Step.
func (s QAdd) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_add"
	a, b, y := qPair(step, out, in)
	sum := qSum{zeroA: a.zero, zeroB: b.zero, scaleA: a.scale / y.scale, scaleB: b.scale / y.scale, flip: a.flip}
	sum.lo, sum.hi, sum.zero = qAct{relu: s.ReLU}.limits(out[0].DType(), y)
	runPair(w, step, out, in, sum, false)
}

// QMul multiplies two quantised tensors as QAdd adds them: the result is
// round((a-za)·(b-zb)·(sa·sb/sy)) + zero, saturated.
//
//gofx:kernel
type QMul struct{ ReLU bool }

// ScratchBytes implements Scratcher.
func (QMul) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.LoadBytes(in[3])
}

// Run implements Step.
func (s QMul) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_mul"
	a, b, y := qPair(step, out, in)
	sum := qSum{zeroA: a.zero, zeroB: b.zero, scaleA: float32(a.scale*b.scale) / y.scale, flip: a.flip}
	sum.lo, sum.hi, sum.zero = qAct{relu: s.ReLU}.limits(out[0].DType(), y)
	runPair(w, step, out, in, sum, true)
}

// qSum are the numbers of an addition or a multiplication.
type qSum struct {
	flip           uint8
	zeroA, zeroB   int32
	scaleA, scaleB float32
	lo, hi         float32
	zero           int32
}

// qPairJob is an addition or a multiplication in progress.
type qPairJob struct {
	a, b, dst []uint8
	sum       qSum
	multiply  bool
	axes      qAxes
}

// qPair checks the operands of an addition or a multiplication.
func qPair(step string, out, in []*array.Array) (a, b, y qParam) {
	if len(in) < 4 || in[0].DType() != in[3].DType() || in[0].DType() != out[0].DType() {
		operand.BadOperand(step, "expected two operands and a result of one type, each with scale and zero point")
	}
	d := out[0].DType()
	return tensorParam(step, d, in[1], in[2]), tensorParam(step, d, operand.At(in, 4), operand.At(in, 5)), tensorParam(step, d, operand.At(in, 6), operand.At(in, 7))
}

func runPair(w *par.Workspace, step string, out, in []*array.Array, sum qSum, multiply bool) {
	mark := w.Mark()
	j := par.TakeJob[qPairJob](w)
	j.multiply, j.sum = multiply, sum
	if !j.axes.join(out[0].Shape(), in[0].Shape(), in[3].Shape()) {
		operand.BadOperand(step, "the operands do not broadcast to the result")
	}
	j.a, j.b, j.dst = loadBytesOf(w, in[0]), loadBytesOf(w, in[3]), bytesOut(out[0])
	w.Parallel(len(j.dst), elementwiseWork, j)
	par.PutJob(w, j)
	w.Release(mark)
}

// qAxis2 is an axis of two operands that broadcast: its size, and how far apart
// elements of both lie, 0 where an operand repeats.
type qAxis2 struct{ size, a, b int }

// qAxes are the axes of two dense operands, innermost first, as few as there can be.
// Innermost elements of an operand are next to each other, or one.
type qAxes struct {
	rank int
	axis [operand.MaxRank]qAxis2
}

// join fills the axes of operands of shapes a and b whose result has shape out, and
// reports false where they do not broadcast to it.
func (x *qAxes) join(out, a, b []int) bool {
	if len(out) > operand.MaxRank || len(a) > len(out) || len(b) > len(out) {
		return false
	}
	x.rank = 0
	nextA, nextB := 1, 1
	for k := 1; k <= len(out); k++ {
		n := qAxis2{size: out[len(out)-k]}
		var okA, okB bool
		n.a, nextA, okA = stepOf(a, k, n.size, nextA)
		n.b, nextB, okB = stepOf(b, k, n.size, nextB)
		if n.size == 1 && okA && okB {
			continue
		}
		if !okA || !okB || n.a == 0 && n.b == 0 && n.size > 0 {
			return false
		}
		if x.rank > 0 {
			if p := &x.axis[x.rank-1]; n.a == p.a*p.size && n.b == p.b*p.size {
				p.size *= n.size
				continue
			}
		}
		x.axis[x.rank] = n
		x.rank++
	}
	if x.rank == 0 {
		x.axis[0], x.rank = qAxis2{1, 1, 1}, 1
	}
	return true
}

// stepOf returns the distance of elements along the k-th dimension from the end of a
// dense operand, the distance along the next one, and whether size is right.
func stepOf(shape []int, k, size, next int) (step, after int, ok bool) {
	own := 1
	if k <= len(shape) {
		own = shape[len(shape)-k]
	}
	if own == 1 {
		return 0, next, true
	}
	return next, next * max(own, 1), own == size // without elements steps are not 0, which would say that both repeat
}

// An operand that repeats is written out for qSpread elements; qTableRun is the least run that
// takes longer than the table of what it makes of 256 bytes.
const qSpread, qTableRun = 1024, 512

// qRoom is where a goroutine writes an operand that repeats, and tables: on the stack, set to
// zero once for all its runs.
type qRoom struct {
	block [qSpread + spreadSpare]uint8
	table [256]uint8
}

// qWalk is a place in the result, and in both operands.
type qWalk struct {
	axes *qAxes
	at   [operand.MaxRank]int
	a, b int
}

// start goes to an element.
func (p *qWalk) start(x *qAxes, to int) {
	p.axes = x
	for k := range x.rank {
		n := x.axis[k]
		p.at[k] = to % n.size
		to /= n.size
		p.a, p.b = p.a+p.at[k]*n.a, p.b+p.at[k]*n.b
	}
}

// left is how many elements of the innermost axis follow.
func (p *qWalk) left() int { return p.axes.axis[0].size - p.at[0] }

// skip goes n of them on.
func (p *qWalk) skip(n int) {
	if n == p.left() {
		p.next()
		return
	}
	inner := &p.axes.axis[0]
	p.at[0], p.a, p.b = p.at[0]+n, p.a+n*inner.a, p.b+n*inner.b
}

// next moves to the next inner run.
func (p *qWalk) next() {
	x := p.axes
	p.a, p.b, p.at[0] = p.a-p.at[0]*x.axis[0].a, p.b-p.at[0]*x.axis[0].b, 0
	for k := 1; k < x.rank; k++ {
		n := &x.axis[k]
		p.a, p.b = p.a+n.a, p.b+n.b
		if p.at[k]++; p.at[k] < n.size {
			return
		}
		p.a, p.b, p.at[k] = p.a-n.size*n.a, p.b-n.size*n.b, 0
	}
}

// nextRuns is next count times, above 0.
func (p *qWalk) nextRuns(count int) {
	if more := count - 1; more > 0 {
		n := &p.axes.axis[1]
		p.a, p.b, p.at[1] = p.a+more*n.a, p.b+more*n.b, p.at[1]+more
	}
	p.next()
}

// Do computes elements [lo, hi): runs of the innermost axis, in the order of the
// result. An operand that repeats along it is spread over a small block that stays
// in the first cache.
func (j *qPairJob) Do(lo, hi int) {
	var p qWalk
	var room qRoom
	p.start(&j.axes, lo)
	inner := &j.axes.axis[0]
	spreadA, spreadB := inner.a == 0 && len(j.b) == len(j.dst), inner.b == 0 && len(j.a) == len(j.dst)
	if inner.size < qSpread/2 && spreadA != spreadB {
		j.short(&p, &room, lo, hi, spreadA)
		return
	}
	for lo < hi {
		run := min(p.left(), hi-lo)
		j.run(&room, p.a, p.b, j.dst[lo:lo+run])
		lo += run
		p.next()
	}
}

// short computes elements [lo, hi) where runs are short and the operand that does not
// repeat lies as the result does: the operand that repeats is spread over several
// runs.
func (j *qPairJob) short(p *qWalk, room *qRoom, lo, hi int, first bool) {
	row, repeats := j.a, j.b
	if first {
		row, repeats = j.b, j.a
	}
	size := j.axes.axis[0].size
	for lo < hi {
		n := 0
		for n < qSpread && lo+n < hi {
			at, left := p.b, min(hi-lo-n, qSpread-n)
			if first {
				at = p.a
			}
			if runs := min(p.together(first), left/size); runs > 0 {
				spread(room.block[n:], size, repeats[at:at+runs])
				n += runs * size
				p.nextRuns(runs)
				continue
			}
			if left < hi-lo-n && n > qSpread/2 {
				break // rather whole runs in the next block
			}
			left = min(left, p.left())
			spread(room.block[n:], left, repeats[at:at+1])
			n += left
			p.skip(left)
		}
		j.ordered(room.block[:n], row[lo:lo+n], j.dst[lo:lo+n], first)
		lo += n
	}
}

// together is how many whole runs follow for which the operand that repeats has bytes next to
// each other.
func (p *qWalk) together(first bool) int {
	outer := &p.axes.axis[1]
	switch {
	case p.at[0] > 0:
		return 0
	case p.axes.rank < 2 || first && outer.a != 1 || !first && outer.b != 1:
		return 1
	}
	return outer.size - p.at[1]
}

// run computes dst, a run of the innermost axis, from j.a[a] and j.b[b] on. A long run with one
// operand that repeats is a function of the other one's bytes, whose table takes less.
func (j *qPairJob) run(room *qRoom, a, b int, dst []uint8) {
	inner := &j.axes.axis[0]
	if inner.a == inner.b {
		j.pair(j.a[a:a+len(dst)], j.b[b:b+len(dst)], dst)
		return
	}
	one, row, first := j.a[a:], j.b[b:], inner.a == 0
	if !first {
		one, row = row, one
	}
	if len(dst) >= qTableRun && lookupPays() {
		spread(room.block[:], 256, one[:1])
		j.ordered(room.block[:256], allBytes[:], room.table[:], first)
		qLookup(dst, row[:len(dst)], room.table[:])
		return
	}
	spread(room.block[:], min(len(dst), qSpread), one[:1])
	for i := 0; i < len(dst); i += qSpread {
		to := dst[i:min(i+qSpread, len(dst))]
		j.ordered(room.block[:len(to)], row[i:i+len(to)], to, first)
	}
}

// allBytes has each byte at its own place: what a function makes of them is its table.
var allBytes = func() (all [256]uint8) {
	for i := range all {
		all[i] = uint8(i)
	}
	return all
}()

// ordered computes dst from the operand that repeats, spread, and the other one.
func (j *qPairJob) ordered(spread, row, dst []uint8, first bool) {
	if first {
		j.pair(spread, row, dst)
	} else {
		j.pair(row, spread, dst)
	}
}

func (j *qPairJob) pair(a, b, dst []uint8) {
	if j.multiply {
		qMulBytes(a, b, &j.sum, dst)
		return
	}
	qAddBytes(a, b, &j.sum, dst)
}

// QTable replaces each byte of in[0] by the entry of in[1], 256 elements of 8
// bits, at its unsigned value: any function of one quantised tensor.
//
//gofx:kernel
type QTable struct{}

// ScratchBytes implements Scratcher.
func (QTable) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.LoadBytes(in[1])
}

// Run implements Step.
func (QTable) Run(w *par.Workspace, out, in []*array.Array) {
	if in[0].DType().Size() != 1 || out[0].DType().Size() != 1 || in[0].Len() != out[0].Len() {
		operand.BadOperand("q_table", "operand and result do not have the same number of 8-bit elements")
	}
	mark := w.Mark()
	lookupAll(w, bytesOut(out[0]), loadBytesOf(w, in[0]), lookupTable("q_table", w, in[1]))
	w.Release(mark)
}

// lookupAll sets dst to src's entries of a table.
func lookupAll(w *par.Workspace, dst, src, table []uint8) {
	j := par.TakeJob[qTableJob](w)
	*j = qTableJob{dst: dst, src: src, table: table}
	w.Parallel(len(dst), 2*elementwiseWork, j)
	par.PutJob(w, j)
}

type qTableJob struct{ dst, src, table []uint8 }

// Do replaces elements [lo, hi).
func (j *qTableJob) Do(lo, hi int) { qLookup(j.dst[lo:hi], j.src[lo:hi], j.table) }

// QConcat joins quantised tensors of one type along Dim: in[0] and in[1] are the
// scale and the zero point of the result, then each tensor is followed by its own. A
// tensor that is quantised in another way than the result is dequantised and quantised
// again, by a table of the 256 values that it may hold.
//
//gofx:kernel
type QConcat struct{ Dim int }

// ScratchBytes implements Scratcher.
func (QConcat) ScratchBytes(_, in []*array.Array) int {
	n := 0
	for i := 2; i < len(in); i += 3 {
		n = max(n, operand.LoadBytes(in[i]))
	}
	return n
}

// Run implements Step.
func (s QConcat) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_concat"
	o := out[0]
	d := operand.Axis(step, s.Dim, operand.CheckRank(step, o))
	if len(in) < 5 || len(in)%3 != 2 {
		operand.BadOperand(step, "expected a scale, a zero point, and tensors with theirs")
	}
	y := tensorParam(step, o.DType(), in[0], in[1])
	inner, outer, at := operand.Prod(o.Shape()[d+1:]), operand.Prod(o.Shape()[:d]), 0
	for i := 2; i < len(in); i += 3 {
		x := in[i]
		if x.DType() != o.DType() || x.Rank() != o.Rank() || at+x.Dim(d) > o.Dim(d) {
			operand.BadOperand(step, "a tensor is of another type or rank than the result, or they hold more elements")
		}
		for k, n := range x.Shape() {
			if k != d && n != o.Dim(k) {
				operand.BadOperand(step, "the tensors differ in a dimension that is not joined")
			}
		}
		mark := w.Mark()
		j := par.TakeJob[qConcatJob](w)
		*j = qConcatJob{dst: bytesOut(o)[min(at*inner, o.Len()):], src: loadBytesOf(w, x), run: x.Dim(d) * inner, step: o.Dim(d) * inner}
		if p := tensorParam(step, x.DType(), in[i+1], in[i+2]); p != y {
			j.again = true
			requantTable(&j.table, p, y)
		}
		if j.run > 0 {
			w.Parallel(outer, max(1, elementwiseWork/j.run), j)
		}
		par.PutJob(w, j)
		w.Release(mark)
		at += x.Dim(d)
	}
	if at != o.Dim(d) {
		operand.BadOperand(step, "the tensors hold less elements than the result")
	}
}

// requantTable has for each byte of a tensor quantised by x the one that is quantised
// by y.
func requantTable(table *[256]uint8, x, y qParam) {
	var reals [256]float32
	dequantizeGo(reals[:], allBytes[:], x.flip, x.scale, x.zero)
	lo, hi := float32(-y.zero), float32(255-y.zero)
	quantizeGo(reals[:], y.scale, lo, hi, y.zero, table[:])
	for i := range table {
		table[i] ^= y.flip
	}
}

// qConcatJob writes rows of one tensor.
type qConcatJob struct {
	dst, src  []uint8
	run, step int // bytes of a row, and between rows of the result
	again     bool
	table     [256]uint8
}

// Do writes rows [lo, hi).
func (j *qConcatJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		dst, src := j.dst[i*j.step:][:j.run], j.src[i*j.run:][:j.run]
		if j.again {
			qLookup(dst, src, j.table[:])
		} else {
			copy(dst, src)
		}
	}
}
