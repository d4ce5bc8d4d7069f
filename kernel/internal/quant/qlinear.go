package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QLinearPackedBytes is the length of the i8 vector that QPackLinear writes for
// a weight of n rows and k columns; 0 when no slice can hold that many.
//
//gofx:kernel
func QLinearPackedBytes(n, k int) int {
	size, ok := qPackedBytes(n, 1, k)
	if !ok {
		return 0
	}
	return size
}

// QPackLinear packs in[0], a weight [n, k] of i8 or u8, into out[0], a vector of
// QLinearPackedBytes(n, k) i8, for QLinear with Packed. It is done once, when
// weights are loaded.
//
//gofx:kernel
type QPackLinear struct {
	Transposed bool // the weight is [k, n], the right operand of a product
}

// turned returns the weight as [n, k].
func (s QPackLinear) turned(weight *array.Array) *array.Array {
	if weight.Rank() != 2 {
		operand.BadOperand("q_pack_linear", "the weight is not a matrix")
	}
	if s.Transposed {
		return array.Permute(weight, 1, 0)
	}
	return weight
}

// Packed implements Packer.
func (s QPackLinear) Packed(weight *array.Array) (array.DType, []int) {
	t := s.turned(weight)
	return array.I8, []int{QLinearPackedBytes(t.Dim(0), t.Dim(1))}
}

// ScratchBytes implements Scratcher.
func (s QPackLinear) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadBytes(s.turned(in[0]))
}

// Run implements Step.
func (s QPackLinear) Run(w *par.Workspace, out, in []*array.Array) {
	mark := w.Mark()
	packLinear(w, "q_pack_linear", array.Data[int8](out[0]), s.turned(in[0]))
	w.Release(mark)
}

func packLinear(w *par.Workspace, step string, mem []int8, weight *array.Array) PackedQ {
	n, k := weight.Dim(0), weight.Dim(1)
	if size, ok := qPackedBytes(n, 1, k); !ok || size != len(mem) {
		operand.BadOperand(step, "the packed weight has another length")
	}
	q := qPacked(mem, n, 1, k)
	q.pack(qSource{bytes: asInt8(loadBytesOf(w, weight)), flip: weightFlip(step, weight), col: k, step: 1})
	return q
}

// weightFlip is the mask that makes bytes of a weight signed.
func weightFlip(step string, weight *array.Array) int8 {
	switch weight.DType() {
	case array.I8:
		return 0
	case array.U8:
		return -128
	}
	operand.BadOperand(step, "the weight is "+weight.DType().String()+", expected i8 or u8")
	return 0
}

// QLinear is a linear layer on quantised tensors. Operands are those of ONNX's
// QLinearMatMul with the weight [n, k] as torch.nn.Linear has it: in[0] x u8 or i8
// [..., k], its scale and zero point; in[3] the weight, its scale and zero point
// (one element or n); in[6] and in[7] the result's; in[8] an optional bias [n],
// i32 in units of x's times the weight's scale; in[9] an optional table of 256
// bytes applied last; in[10] an optional residual u8 or i8 of the result's shape,
// its scale and zero point, added to the scaled sums before they are rounded to u8
// or i8. Zero points may be nil for 0.
//
// The result's type decides how the sums are stored: u8 and i8 are scaled,
// rounded half to even and saturated, clamped by ReLU at the zero point and by
// Max > 0 at that real value; f32 is scaled (in[6] and in[7] are not read, the
// bias may be f32); i32 is the sum itself. Packed says that the weight is the
// output of QPackLinear, for an i8 weight, or of a u8 one with Unsigned.
//
//gofx:kernel
type QLinear struct {
	Packed, Unsigned bool
	ReLU             bool
	Max              float32
}

// ScratchBytes implements Scratcher.
func (s QLinear) ScratchBytes(out, in []*array.Array) int {
	x, n := in[qX], out[0].Dim(-1)
	k := x.Dim(-1)
	size := operand.LoadBytes(x) + par.ScratchSize(x.Len(), 1) + epilogueBytes(n, operand.At(in, qTableOperand)) +
		operand.LoadBytes(in[qW]) + residualBytes(in)
	if k > 0 {
		size += qMatrixScratch(x.Len()/k, k, k)
	}
	if !s.Packed {
		size += par.ScratchSize(QLinearPackedBytes(n, k), 1)
	}
	return size
}

// Run implements Step.
func (s QLinear) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_linear"
	x, weight := in[qX], in[qW]
	if x.Rank() == 0 || out[0].Rank() != x.Rank() {
		operand.BadOperand(step, "the operand is a scalar, or the result is not of its rank")
	}
	n, k := out[0].Dim(-1), x.Dim(-1)
	m := operand.Prod(x.Shape()[:x.Rank()-1])
	if out[0].Len() != m*n {
		operand.BadOperand(step, "the result has another number of rows than the operand")
	}
	if m*n == 0 {
		return
	}
	mark := w.Mark()
	var b PackedQ
	if s.Packed {
		mem := operand.LoadSame[int8](w, weight)
		if size, ok := qPackedBytes(n, 1, k); !ok || size != len(mem) {
			operand.BadOperand(step, "the packed weight has another length than these sizes give")
		}
		b = qPacked(mem, n, 1, k)
	} else {
		if weight.Rank() != 2 || weight.Dim(0) != n || weight.Dim(1) != k {
			operand.BadOperand(step, "the weight is not [n, k] for a result of n and an operand of k columns")
		}
		b = packLinear(w, step, par.Scratch[int8](w, QLinearPackedBytes(n, k)), weight)
	}
	unsigned := s.Unsigned || !s.Packed && weight.DType() == array.U8
	px := tensorParam(step, x.DType(), in[qXScale], operand.At(in, qXZero))
	j := par.TakeJob[qJob](w)
	*j = qJob{a: flipped(w, loadBytesOf(w, x), px.flip), b: b}
	j.out = qAct{s.ReLU, s.Max}.epilogue(w, step, out[0], in, unsigned, px, &b, 0, n)
	j.out.ld, j.out.res = n, residualOf(w, step, out[0], in)
	j.runMatrix(w, m, k)
	par.PutJob(w, j)
	w.Release(mark)
}

// QMatMul multiplies in[0] [..., m, k] by in[3] [..., k, n], both u8 or i8, with
// the operands, results and options of QLinear; leading dimensions broadcast.
// Scales and zero points of in[3] are of one element, or n.
//
//gofx:kernel
type QMatMul struct {
	ReLU bool
	Max  float32
}

// ScratchBytes implements Scratcher.
func (s QMatMul) ScratchBytes(out, in []*array.Array) int {
	x, y := in[qX], in[qW]
	m, k, n := x.Dim(-2), x.Dim(-1), y.Dim(-1)
	return operand.LoadBytes(x) + operand.LoadBytes(y) + par.ScratchSize(x.Len(), 1) + epilogueBytes(n, operand.At(in, qTableOperand)) +
		qMatrixScratch(m, k, k) + par.ScratchSize(QLinearPackedBytes(n, k), 1) + residualBytes(in)
}

// Run implements Step.
func (s QMatMul) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_matmul"
	x, y, o := in[qX], in[qW], out[0]
	if x.Rank() < 2 || y.Rank() < 2 || o.Rank() != max(x.Rank(), y.Rank()) {
		operand.BadOperand(step, "an operand is not a matrix, or the result is of another rank")
	}
	m, k, n := x.Dim(-2), x.Dim(-1), y.Dim(-1)
	if y.Dim(-2) != k || o.Dim(-2) != m || o.Dim(-1) != n {
		operand.BadOperand(step, "inner dimensions differ, or the result has another shape")
	}
	if o.Len() == 0 {
		return
	}
	mark := w.Mark()
	px := tensorParam(step, x.DType(), in[qXScale], operand.At(in, qXZero))
	a := flipped(w, loadBytesOf(w, x), px.flip)
	right, flip := asInt8(loadBytesOf(w, y)), weightFlip(step, y)
	mem, res := par.Scratch[int8](w, QLinearPackedBytes(n, k)), residualOf(w, step, o, in)
	inner := w.Mark()
	packed := -1
	batch := o.Shape()[:o.Rank()-2]
	for i := range operand.Prod(batch) {
		b := qPacked(mem, n, 1, k)
		if at := batchAt(step, i, batch, y.Shape()[:y.Rank()-2]); at != packed {
			b.pack(qSource{bytes: right[at*k*n:], flip: flip, col: 1, step: n})
			packed = at
		}
		j := par.TakeJob[qJob](w)
		*j = qJob{a: a[batchAt(step, i, batch, x.Shape()[:x.Rank()-2])*m*k:], b: b}
		j.out = qAct{s.ReLU, s.Max}.epilogue(w, step, o, in, y.DType() == array.U8, px, &b, 0, n)
		j.out.ld, j.out.res = n, res
		j.out.skip(i * m * n)
		j.runMatrix(w, m, k)
		par.PutJob(w, j)
		w.Release(inner)
	}
	w.Release(mark)
}

// skip moves the place that results go to.
func (e *qEpilogue) skip(n int) {
	switch {
	case e.bytes != nil:
		e.bytes, e.res = e.bytes[n:], e.res.from(n)
	case e.floats != nil:
		e.floats = e.floats[n:]
	default:
		e.sums = e.sums[n:]
	}
}

// batchAt returns which matrix of an operand with leading dimensions dims belongs
// to matrix i of the result with leading dimensions batch.
func batchAt(step string, i int, batch, dims []int) int {
	at, scale := 0, 1
	for d := range len(batch) {
		size := batch[len(batch)-1-d]
		index := i % size
		i /= size
		if d >= len(dims) {
			continue
		}
		switch own := dims[len(dims)-1-d]; own {
		case size:
			at += index * scale
			scale *= size
		case 1:
		default:
			operand.BadOperand(step, "leading dimensions do not broadcast to those of the result")
		}
	}
	return at
}
