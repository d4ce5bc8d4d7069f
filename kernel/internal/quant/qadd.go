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

// QTable replaces each byte of in[0] by the entry of in[1], 256 elements of 8
// bits, at its unsigned value: any function of one quantised tensor.
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
	j := par.TakeJob[qTableJob](w)
	*j = qTableJob{dst: bytesOut(out[0]), src: loadBytesOf(w, in[0]), table: lookupTable("q_table", w, in[1])}
	w.Parallel(len(j.dst), 2*elementwiseWork, j)
	par.PutJob(w, j)
	w.Release(mark)
}

type qTableJob struct{ dst, src, table []uint8 }

// Do replaces elements [lo, hi).
func (j *qTableJob) Do(lo, hi int) { qLookup(j.dst[lo:hi], j.src[lo:hi], j.table) }
