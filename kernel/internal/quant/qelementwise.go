package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Quantize turns in[0] f32, f16 or bf16 into u8, i8, u16, i16 or an integer of 4 or 2
// bits: round(x/scale) + zero in f32, halves to even, saturated, NaN as the least value;
// or into a float of 8 or 4 bits: x/scale + zero, rounded once more. in[1] is the scale and
// in[2] the optional zero point, of the result's type: one element, or one for each
// index along Axis, as in ONNX's QuantizeLinear and torch.quantize_per_channel.
//
//gofx:kernel
type Quantize struct {
	Axis int
	// Unsaturated is array.Unsaturated, for floats of 8 bits.
	Unsaturated bool
}

// ScratchBytes implements Scratcher.
func (Quantize) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (s Quantize) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "quantize"
	mark := w.Mark()
	d := out[0].DType()
	ax := qAxis(step, in[0], in[1], operand.At(in, 2), s.Axis)
	wide := d == array.U16 || d == array.I16
	if x := in[0].DType(); x != array.F32 && !operand.IsHalf(x) || !wide && d != array.U8 && d != array.I8 && !quantizesTo(d) || out[0].Len() != in[0].Len() {
		operand.BadOperand(step, "expected an f32, f16 or bf16 operand and a quantised result of its size")
	}
	if zero := operand.At(in, 2); zero != nil && zero.DType() != d {
		operand.BadOperand(step, "the zero point is not of the type of the result")
	}
	if d.IsNarrow() {
		s.runNarrow(w, ax, out[0], in[0])
		w.Release(mark)
		return
	}
	j := par.TakeJob[quantizeJob](w)
	*j = quantizeJob{axis: ax, src: operand.Load[float32](w, in[0]), signed: d == array.I8 || d == array.I16}
	if wide {
		j.words = wordsOf(out[0])
	} else {
		j.dst = bytesOut(out[0])
	}
	w.Parallel(ax.rows, max(1, elementwiseWork/max(ax.inner, 1)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// qAxisLoop walks rows of elements that share a scale and a zero point.
type qAxisLoop struct {
	scale, zero        *array.Array
	rows, inner, count int
}

// qAxis cuts x into rows by the axis of its scales.
func qAxis(step string, x, scale, zero *array.Array, axis int) qAxisLoop {
	l := qAxisLoop{scale: scale, zero: zero, count: 1}
	if scale.Len() == 1 && (zero == nil || zero.Len() == 1) {
		// One row a chunk, so that large tensors are worked on in parallel.
		l.inner = elementwiseWork
		l.rows = (x.Len() + l.inner - 1) / l.inner
		return l
	}
	if axis < 0 {
		axis += x.Rank()
	}
	if axis < 0 || axis >= x.Rank() {
		operand.BadOperand(step, "the axis is out of range")
	}
	l.count = x.Dim(axis)
	perChannel(step, "the scale", scale, l.count)
	perChannel(step, "the zero point", zero, l.count)
	l.inner = operand.Prod(x.Shape()[axis+1:])
	l.rows = operand.Prod(x.Shape()[:axis+1])
	return l
}

// at returns the parameters of row i.
func (l *qAxisLoop) at(step string, i int) (scale float32, zero int32) {
	c := i % l.count
	return scaleAt(step, l.scale, c), zeroAt(l.zero, c)
}

type quantizeJob struct {
	axis   qAxisLoop
	dst    []uint8
	words  []uint16 // in place of dst, for 16 bits
	src    []float32
	signed bool
}

// Do quantises rows [lo, hi).
func (j *quantizeJob) Do(lo, hi int) {
	low, high := float32(0), float32(255)
	if j.signed {
		low, high = -128, 127
	}
	if j.words != nil {
		low, high = 256*low, 256*high+255
	}
	for i := lo; i < hi; i++ {
		scale, zero := j.axis.at("quantize", i)
		from, to := i*j.axis.inner, min((i+1)*j.axis.inner, len(j.src))
		if j.words != nil {
			quantizeWords(j.src[from:to], scale, low-float32(zero), high-float32(zero), zero, j.words[from:to])
			continue
		}
		quantize(j.src[from:to], scale, low-float32(zero), high-float32(zero), zero, j.dst[from:to])
	}
}

func quantizeWords(src []float32, scale, lo, hi float32, zero int32, dst []uint16) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = uint16(clampRound(v/scale, lo, hi, zero))
	}
}

// Dequantize turns in[0] u8, i8, u16, i16, i32 or a narrow type into f32, f16 or bf16:
// (q-zero)·scale in f32, with in[1] and in[2] as for Quantize. Differences of i32 wrap around.
//
//gofx:kernel
type Dequantize struct{ Axis int }

// ScratchBytes implements Scratcher.
func (Dequantize) ScratchBytes(out, in []*array.Array) int {
	return operand.LoadBytes(in[0]) + operand.StoreBytes(out[0])
}

// Run implements Step.
func (s Dequantize) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "dequantize"
	mark := w.Mark()
	ax := qAxis(step, in[0], in[1], operand.At(in, 2), s.Axis)
	if y := out[0].DType(); y != array.F32 && !operand.IsHalf(y) || out[0].Len() != in[0].Len() {
		operand.BadOperand(step, "expected an f32, f16 or bf16 result of the size of the operand")
	}
	dst := operand.Result[float32](w, out[0])
	if quantizesTo(in[0].DType()) {
		dequantizeNarrow(w, ax, dst, in[0])
		operand.Store(out[0], dst)
		w.Release(mark)
		return
	}
	j := par.TakeJob[dequantizeJob](w)
	*j = dequantizeJob{axis: ax, dst: dst}
	switch in[0].DType() {
	case array.U8:
		j.u8 = operand.LoadSame[uint8](w, in[0])
	case array.I8:
		j.i8 = operand.LoadSame[int8](w, in[0])
	case array.U16:
		j.u16 = operand.LoadSame[uint16](w, in[0])
	case array.I16:
		j.i16 = operand.LoadSame[int16](w, in[0])
	case array.I32:
		j.i32 = operand.LoadSame[int32](w, in[0])
	default:
		operand.BadOperand(step, "the operand is "+in[0].DType().String()+", expected u8, i8, u16, i16, i32 or a narrow type")
	}
	w.Parallel(ax.rows, max(1, elementwiseWork/max(ax.inner, 1)), j)
	par.PutJob(w, j)
	operand.Store(out[0], dst)
	w.Release(mark)
}

type dequantizeJob struct {
	axis qAxisLoop
	dst  []float32
	u8   []uint8
	i8   []int8
	u16  []uint16
	i16  []int16
	i32  []int32
}

// Do converts rows [lo, hi).
func (j *dequantizeJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		scale, zero := j.axis.at("dequantize", i)
		from, to := i*j.axis.inner, min((i+1)*j.axis.inner, len(j.dst))
		switch {
		case j.u8 != nil:
			dequantizeBytes(j.dst[from:to], j.u8[from:to], 0, scale, zero)
		case j.i8 != nil:
			dequantizeBytes(j.dst[from:to], asUint8(j.i8[from:to]), 0x80, scale, zero+128)
		case j.u16 != nil:
			dequantizeWords(j.dst[from:to], j.u16[from:to], scale, zero)
		case j.i16 != nil:
			dequantizeWords(j.dst[from:to], j.i16[from:to], scale, zero)
		default:
			dequantizeWords(j.dst[from:to], j.i32[from:to], scale, zero)
		}
	}
}

func dequantizeWords[T uint16 | int16 | int32](dst []float32, src []T, scale float32, zero int32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(float32(int32(v)-zero) * scale)
	}
}

// DynamicQuantize is ONNX's DynamicQuantizeLinear of in[0] f32: out[0] u8 is x
// quantised by the scale out[1] and the zero point out[2] that cover x's range
// and 0. out[0] may be nil. A range of one point has scale 1/255.
//
//gofx:kernel
type DynamicQuantize struct{}

// ScratchBytes implements Scratcher.
func (DynamicQuantize) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (DynamicQuantize) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "dynamic_quantize"
	if in[0].DType() != array.F32 || out[1].DType() != array.F32 || out[1].Len() != 1 ||
		out[2].DType() != array.U8 || out[2].Len() != 1 {
		operand.BadOperand(step, "expected an f32 operand, an f32 scale and a u8 zero point")
	}
	mark := w.Mark()
	src := operand.Load[float32](w, in[0])
	lo, hi := rangeOf(w, src)
	scale, zero := rangeParams(lo, hi)
	array.Data[float32](out[1])[0] = scale
	array.Data[uint8](out[2])[0] = zero
	w.Release(mark)
	if out[0] != nil {
		Quantize{}.Run(w, []*array.Array{out[0]}, []*array.Array{in[0], out[1], out[2]})
	}
}

// rangeOf is valueRange on w's threads.
func rangeOf(w *par.Workspace, src []float32) (lo, hi float32) {
	if w.Threads <= 1 || len(src) < 2*elementwiseWork {
		return valueRange(src)
	}
	j := par.TakeJob[rangeJob](w)
	*j = rangeJob{src: src}
	w.Parallel(rangeParts, 1, j)
	for i := range j.lo {
		lo, hi = min(lo, j.lo[i]), max(hi, j.hi[i])
	}
	j.src = nil
	par.PutJob(w, j)
	return lo, hi
}

type rangeJob struct {
	src    []float32
	lo, hi [rangeParts]float32
}

// Do searches parts [lo, hi). Parts are as many on every machine, so that their
// extremes are combined in one order.
func (j *rangeJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		n := len(j.src)
		j.lo[i], j.hi[i] = valueRange(j.src[i*n/rangeParts : (i+1)*n/rangeParts])
	}
}

// rangeParams returns the scale and the zero point of u8 over [lo, hi], lo <= 0 <= hi.
func rangeParams(lo, hi float32) (scale float32, zero uint8) {
	scale = float32(hi-lo) / 255
	if scale == 0 {
		scale = 1.0 / 255
	}
	if scale > math.MaxFloat32 {
		scale = hi/255 - lo/255
	}
	return scale, uint8(clampRound(-lo/scale, 0, 255, 0))
}

// QEmbedding takes rows of in[1], a weight u8 or i8 [V, E], that the integers of in[0]
// name, and dequantises them: in[2] is the scale f32 and in[3] the optional zero point
// of the weight's type, one element or one for each row.
//
//gofx:kernel
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
	j.index = operand.LoadIndices(step, w, x, j.rows)
	w.Parallel(x.Len(), max(1, elementwiseWork/max(j.width, 1)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// qEmbeddingJob is a look-up in progress.
type qEmbeddingJob struct {
	dst         []float32
	src         []uint8
	index       operand.Indices
	scale, zero *array.Array
	rows, width int
	signed      bool
}

// Do dequantises rows [lo, hi) of the result.
func (j *qEmbeddingJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.index.At(i)
		scale, zero, flip := scaleAt("q_embedding", j.scale, row), zeroAt(j.zero, row), uint8(0)
		if j.signed {
			zero, flip = zero+128, 0x80
		}
		dequantizeBytes(j.dst[i*j.width:(i+1)*j.width], j.src[row*j.width:(row+1)*j.width], flip, scale, zero)
	}
}

// quantizesTo reports whether Quantize has results of a narrow type: ONNX gives
// f8e8m0fnu to scales only.
func quantizesTo(d array.DType) bool { return d.IsNarrow() && d != array.F8E8M0FNU }

// narrowZero is element i of the zero points of a narrow type, 0 where there are none.
func narrowZero(a *array.Array, i int) float32 {
	if a == nil {
		return 0
	}
	code := array.Raw[uint8](a)[vectorAt(a, i)]
	if d := a.DType(); d.IsNarrowFloat() {
		return array.NarrowFloats(d)[code]
	}
	return float32(array.NarrowInt(a.DType(), code))
}

// narrowQuantizeJob quantises to a narrow type.
type narrowQuantizeJob struct {
	axis     qAxisLoop
	dst      []uint8
	src      []float32
	dtype    array.DType
	rounding array.Rounding
}

// Do quantises rows [lo, hi).
func (j *narrowQuantizeJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c := i % j.axis.count
		scale, zero := scaleAt("quantize", j.axis.scale, c), narrowZero(j.axis.zero, c)
		from, to := i*j.axis.inner, min((i+1)*j.axis.inner, len(j.src))
		if j.dtype.IsNarrowFloat() {
			quantizeNarrow(j.dtype, j.rounding, j.src[from:to], scale, zero, j.dst[from:to])
			continue
		}
		low, high := array.NarrowRange(j.dtype)
		dst := j.dst[from:to]
		for k, v := range j.src[from:to] {
			dst[k] = uint8(clampRound(v/scale, float32(low)-zero, float32(high)-zero, int32(zero)))
		}
	}
}

// quantizeNarrow leaves out a zero point of 0, which would make -0 another number.
func quantizeNarrow(d array.DType, r array.Rounding, src []float32, scale, zero float32, dst []uint8) {
	src = src[:len(dst)]
	for k, v := range src {
		v /= scale
		if zero != 0 {
			v += zero
		}
		dst[k] = array.NarrowFromFloat64(d, float64(v), r)
	}
}

// runNarrow is Run for narrow results.
func (s Quantize) runNarrow(w *par.Workspace, ax qAxisLoop, out, x *array.Array) {
	j := par.TakeJob[narrowQuantizeJob](w)
	*j = narrowQuantizeJob{axis: ax, dst: array.Bytes(out), src: operand.Load[float32](w, x), dtype: out.DType()}
	if s.Unsaturated {
		j.rounding = array.Unsaturated
	}
	w.Parallel(ax.rows, max(1, elementwiseWork/max(ax.inner, 1)), j)
	*j = narrowQuantizeJob{}
	par.PutJob(w, j)
}

// narrowDequantizeJob converts a narrow type.
type narrowDequantizeJob struct {
	axis   qAxisLoop
	dst    []float32
	src    []uint8
	values [256]float32 // of the codes
}

// Do converts rows [lo, hi).
func (j *narrowDequantizeJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c := i % j.axis.count
		scale, zero := scaleAt("dequantize", j.axis.scale, c), narrowZero(j.axis.zero, c)
		from, to := i*j.axis.inner, min((i+1)*j.axis.inner, len(j.dst))
		dst := j.dst[from:to]
		for k, code := range j.src[from:to] {
			v := j.values[code]
			if zero != 0 {
				v -= zero
			}
			dst[k] = float32(v * scale)
		}
	}
}

// dequantizeNarrow converts a narrow type to dst.
func dequantizeNarrow(w *par.Workspace, ax qAxisLoop, dst []float32, q *array.Array) {
	j := par.TakeJob[narrowDequantizeJob](w)
	*j = narrowDequantizeJob{axis: ax, dst: dst, src: narrowBytes(w, q)}
	if d := q.DType(); d.IsNarrowFloat() {
		j.values = *array.NarrowFloats(d)
	} else {
		for code := range j.values {
			j.values[code] = float32(array.NarrowInt(d, uint8(code)))
		}
	}
	w.Parallel(ax.rows, max(1, elementwiseWork/max(ax.inner, 1)), j)
	*j = narrowDequantizeJob{}
	par.PutJob(w, j)
}

// narrowBytes returns the codes of a in row-major order: a's own memory where it is
// contiguous.
func narrowBytes(w *par.Workspace, a *array.Array) []uint8 {
	if a.IsContiguous() {
		return array.Bytes(a)
	}
	dst := par.Scratch[uint8](w, a.Len())
	array.CopyTo(dst, a)
	return dst
}
