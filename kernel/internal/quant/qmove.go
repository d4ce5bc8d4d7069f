package quant

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// QConcat joins quantised tensors of one type along Dim: in[0] and in[1] are the
// scale and the zero point of the result, then each tensor is followed by its own. A
// tensor that is quantised in another way than the result is dequantised and quantised
// again, by a table of the 256 values that it may hold.
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
	var all [256]uint8
	var reals [256]float32
	for i := range all {
		all[i] = uint8(i)
	}
	dequantizeGo(reals[:], all[:], x.flip, x.scale, x.zero)
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

// QEmbedding takes rows of in[1], a weight u8 or i8 [V, E], that the integers of in[0]
// name, and dequantises them: in[2] is the scale f32 and in[3] the optional zero point
// of the weight's type, one element or one for each row.
type QEmbedding struct{}

// ScratchBytes implements Scratcher.
func (QEmbedding) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadAllBytes(in[:2])
}

// Run implements Step.
func (QEmbedding) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "q_embedding"
	x, weight, scale, zero := in[0], in[1], in[2], operand.At(in, 3)
	if weight.Rank() != 2 || out[0].DType() != array.F32 || out[0].Len() != x.Len()*weight.Dim(1) {
		operand.BadOperand(step, "the weight is not a matrix, or the result is not f32 of a row for each index")
	}
	perChannel(step, "the scale", scale, weight.Dim(0))
	perChannel(step, "the zero point", zero, weight.Dim(0))
	if zero != nil && zero.DType() != weight.DType() || scale.DType() != array.F32 {
		operand.BadOperand(step, "the scale is not f32, or the zero point is not of the weight's type")
	}
	mark := w.Mark()
	j := par.TakeJob[qEmbeddingJob](w)
	*j = qEmbeddingJob{dst: array.Data[float32](out[0]), src: loadBytesOf(w, weight), scale: scale, zero: zero,
		rows: weight.Dim(0), width: weight.Dim(1), signed: weight.DType() == array.I8}
	switch x.DType() {
	case array.I32:
		j.short = operand.LoadSame[int32](w, x)
	case array.I64:
		j.long = operand.LoadSame[int64](w, x)
	default:
		operand.BadOperand(step, "an index is "+x.DType().String()+", expected i32 or i64")
	}
	j.check(x.Len())
	w.Parallel(x.Len(), max(1, elementwiseWork/max(j.width, 1)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// qEmbeddingJob is a look-up in progress.
type qEmbeddingJob struct {
	dst         []float32
	src         []uint8
	short       []int32
	long        []int64
	scale, zero *array.Array
	rows, width int
	signed      bool
}

func (j *qEmbeddingJob) at(i int) int {
	if j.long != nil {
		return int(j.long[i])
	}
	return int(j.short[i])
}

// check panics because of an index that names no row.
func (j *qEmbeddingJob) check(n int) {
	for i := range n {
		if row := j.at(i); row < 0 || row >= j.rows {
			operand.BadIndex(int64(row), 0, j.rows)
		}
	}
}

// Do dequantises rows [lo, hi) of the result.
func (j *qEmbeddingJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.at(i)
		scale, zero, flip := scaleAt("q_embedding", j.scale, row), zeroAt(j.zero, row), uint8(0)
		if j.signed {
			zero, flip = zero+128, 0x80
		}
		dequantizeBytes(j.dst[i*j.width:(i+1)*j.width], j.src[row*j.width:(row+1)*j.width], flip, scale, zero)
	}
}
