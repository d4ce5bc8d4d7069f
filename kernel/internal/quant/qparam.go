package quant

import (
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qParam is the scale and the zero point of an 8-bit operand; flip turns its
// bytes into the unsigned ones that products read, and zero is of those.
type qParam struct {
	scale float32
	zero  int32
	flip  uint8
}

// tensorParam reads the parameters of an operand of type d; a nil zero is 0.
func tensorParam(step string, d array.DType, scale, zero *array.Array) qParam {
	p := qParam{scale: 1}
	if d != array.U8 && d != array.I8 {
		operand.BadOperand(step, "an operand is "+d.String()+", expected u8 or i8")
	}
	if scale != nil {
		if scale.Len() != 1 {
			operand.BadOperand(step, "a scale of a whole tensor has more than one element, or none")
		}
		p.scale = scaleAt(step, scale, 0)
	}
	if zero != nil {
		if zero.Len() != 1 || zero.DType() != d {
			operand.BadOperand(step, "a zero point is not one element of the type of its tensor")
		}
		p.zero = intAt(zero, 0)
	}
	if d == array.I8 {
		p.flip, p.zero = 0x80, p.zero+128
	}
	return p
}

// scaleAt returns element i of a dense or strided vector of scales.
func scaleAt(step string, a *array.Array, i int) float32 {
	switch d := a.DType(); {
	case d == array.F32:
		return array.Raw[float32](a)[vectorAt(a, i)]
	case operand.IsHalf(d):
		return float32(half.WidenOne(array.Raw[uint16](a)[vectorAt(a, i)], d == array.BF16))
	}
	operand.BadOperand(step, "a scale is "+a.DType().String()+", expected f32, f16 or bf16")
	return 0
}

// intAt returns element i of a vector of zero points by its own type.
func intAt(a *array.Array, i int) int32 {
	at := vectorAt(a, i)
	switch a.DType() {
	case array.I8:
		return int32(array.Raw[int8](a)[at])
	case array.I16:
		return int32(array.Raw[int16](a)[at])
	case array.U16:
		return int32(array.Raw[uint16](a)[at])
	case array.I32:
		return array.Raw[int32](a)[at]
	}
	return int32(array.Raw[uint8](a)[at])
}

// vectorAt is where element i of an array of one dimension, or of one element, lies.
func vectorAt(a *array.Array, i int) int {
	if a.Len() == 1 || a.Rank() == 0 {
		return a.Offset()
	}
	return a.Offset() + i*a.Strides()[a.Rank()-1]
}

// vectorStep is the distance of elements of an array of one dimension.
func vectorStep(a *array.Array) int {
	if a.Len() == 1 || a.Rank() == 0 {
		return 0
	}
	return a.Strides()[a.Rank()-1]
}

// perChannel checks that a holds one element, or n as a vector.
func perChannel(step, name string, a *array.Array, n int) {
	if a == nil || a.Len() == 1 {
		return
	}
	if a.Rank() != 1 || a.Dim(0) != n {
		operand.BadOperand(step, name+" has neither one element nor one for each channel")
	}
}

// loadBytesOf returns the bytes of a in row-major order, u8 and i8 alike: a's own
// memory where it is contiguous.
func loadBytesOf(w *par.Workspace, a *array.Array) []uint8 {
	if a.DType() == array.U8 {
		return operand.LoadSame[uint8](w, a)
	}
	return asUint8(operand.LoadSame[int8](w, a))
}

// bytesOut returns the memory of an output of 8-bit elements.
func bytesOut(a *array.Array) []uint8 {
	if a.DType() == array.U8 {
		return array.Data[uint8](a)
	}
	return asUint8(array.Data[int8](a))
}

// wordsOf returns the memory of an array of 16-bit integers.
func wordsOf(a *array.Array) []uint16 {
	if a.DType() == array.U16 {
		return array.Data[uint16](a)
	}
	b := array.Data[int16](a)
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func asUint8(b []int8) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func asInt8(b []uint8) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// flipped returns b with flip applied, in scratch unless flip is 0.
func flipped(w *par.Workspace, b []uint8, flip uint8) []uint8 {
	if flip == 0 || len(b) == 0 {
		return b
	}
	dst := par.Scratch[uint8](w, len(b))
	flipBytes(dst, b, flip)
	return dst
}

// flipBytes sets dst to src with every byte's flip bits changed, eight at a time.
func flipBytes(dst, src []uint8, flip uint8) {
	src = src[:len(dst)]
	wide := uint64(flip) * 0x0101010101010101
	n := len(dst) &^ 7
	if n > 0 {
		for i := 0; i < n; i += 8 {
			s, d := (*[8]uint8)(src[i:]), (*[8]uint8)(dst[i:])
			cpu.LittleEndian.PutUint64(d[:], cpu.LittleEndian.Uint64(s[:])^wide)
		}
	}
	for i := n; i < len(dst); i++ {
		dst[i] = src[i] ^ flip
	}
}

// Places of operands in products of quantised tensors, those of ONNX's
// QLinearMatMul and QLinearConv.
const (
	qX = iota
	qXScale
	qXZero
	qW
	qWScale
	qWZero
	qYScale
	qYZero
	qBias
	qTableOperand
	qRes
	qResScale
	qResZero
)

// qAct is the operation that an epilogue applies to results in addition to scaling.
type qAct struct {
	relu bool
	max  float32
}

// limits returns the clamp of a scaled sum of output type d: the type's range
// and the activation, less the zero point, and the zero point itself.
func (a qAct) limits(d array.DType, y qParam) (lo, hi float32, zero int32) {
	zero = y.zero
	low, high := int32(0), int32(255)
	if d == array.I8 {
		zero, low, high = zero-128, -128, 127
	}
	lo, hi = float32(low-zero), float32(high-zero)
	if a.relu {
		lo = max(lo, 0)
	}
	if a.max > 0 {
		hi = min(hi, max(lo, float32(clampRound(a.max/y.scale, 0, 1<<20, 0))))
	}
	return lo, hi, zero
}

// epilogue prepares the storing of the sums of b's columns, channels col and on
// of total. b holds unsigned weights less 128. The bias becomes in[8] -
// x.zero·sum(b) + k·x.zero·w.zero.
func (a qAct) epilogue(w *par.Workspace, step string, out *array.Array, in []*array.Array, unsigned bool, x qParam, b *PackedQ, col, total int) qEpilogue {
	panels := (b.n + qCols - 1) / qCols * qCols
	e := qEpilogue{bias: par.Scratch[int32](w, panels)}
	clear(e.bias)
	d := out.DType()
	ws, wz, bias := operand.At(in, qWScale), operand.At(in, qWZero), operand.At(in, qBias)
	perChannel(step, "the scale of the weight", ws, total)
	perChannel(step, "the zero point of the weight", wz, total)
	if bias != nil && (bias.Rank() != 1 || bias.Dim(0) != total) {
		operand.BadOperand(step, "the bias does not have one element for each channel")
	}
	asFloat := d == array.F32 && bias != nil && bias.DType() == array.F32
	if bias != nil && !asFloat && bias.DType() != array.I32 {
		operand.BadOperand(step, "the bias is "+bias.DType().String()+", expected i32, or f32 with an f32 result")
	}
	if bias != nil && !asFloat {
		copyVector(e.bias[:b.n], bias, col)
	}
	qTerms(e.bias[:b.n], b.sums, x.zero)
	e.weightZeros(w, wz, unsigned, x, b, col)
	switch d {
	case array.U8, array.I8:
		y := tensorParam(step, d, operand.At(in, qYScale), operand.At(in, qYZero))
		e.lo, e.hi, e.zero = a.limits(d, y)
		e.scales(w, step, x.scale, ws, y.scale, b.n, col)
		e.bytes = bytesOut(out)
		if d == array.I8 {
			e.flip = 0x80
		}
		if t := operand.At(in, qTableOperand); t != nil {
			e.table = lookupTable(step, w, t)
		}
	case array.F32:
		e.scales(w, step, x.scale, ws, 1, b.n, col)
		e.add = par.Scratch[float32](w, panels)
		clear(e.add)
		if asFloat {
			copyVector(e.add[:b.n], bias, col)
		}
		e.floats = array.Data[float32](out)
	case array.I32:
		e.sums = array.Data[int32](out)
	default:
		operand.BadOperand(step, "the result is "+d.String()+", expected u8, i8, i32 or f32")
	}
	return e
}

// weightZeros corrects for zero points of the weight, where one is not 0.
func (e *qEpilogue) weightZeros(w *par.Workspace, wz *array.Array, unsigned bool, x qParam, b *PackedQ, col int) {
	if !offCentre(wz, unsigned, col, b.n) {
		return
	}
	less := packedLess(unsigned)
	e.weightZero = par.Scratch[int32](w, len(e.bias))
	clear(e.weightZero)
	k := int32(b.K())
	for i := range b.n {
		z := zeroAt(wz, col+i) - less
		e.weightZero[i] = z
		e.bias[i] += k * x.zero * z
	}
}

// packedLess is the difference between the weights and the packed weights.
func packedLess(unsigned bool) int32 {
	if unsigned {
		return 128
	}
	return 0
}

// offCentre reports whether one of n channels, col and on, of packed weights has a
// zero point other than 0.
func offCentre(wz *array.Array, unsigned bool, col, n int) bool {
	less := packedLess(unsigned)
	if wz == nil || wz.Len() == 1 {
		return n > 0 && zeroAt(wz, 0) != less
	}
	for i := range n {
		if zeroAt(wz, col+i) != less {
			return true
		}
	}
	return false
}

func zeroAt(a *array.Array, i int) int32 {
	if a == nil {
		return 0
	}
	return intAt(a, i)
}

// scales sets each column's factor, x·w/y, rounded after each operation.
func (e *qEpilogue) scales(w *par.Workspace, step string, x float32, ws *array.Array, y float32, n, col int) {
	e.scale = par.Scratch[float32](w, len(e.bias))
	clear(e.scale)
	if ws == nil || ws.Len() == 1 {
		s := float32(1)
		if ws != nil {
			s = scaleAt(step, ws, 0)
		}
		s = float32(x*s) / y
		for i := range e.scale[:n] {
			e.scale[i] = s
		}
		return
	}
	if ws.DType() != array.F32 {
		operand.BadOperand(step, "the scale of the weight is "+ws.DType().String()+", expected f32")
	}
	copyVector(e.scale[:n], ws, col)
	qFactors(e.scale[:n], x, y)
}

// copyVector fills dst from elements at and on of an array of one dimension.
func copyVector[T int32 | float32](dst []T, a *array.Array, at int) {
	if len(dst) == 0 {
		return
	}
	data, at, step := array.Raw[T](a), vectorAt(a, at), vectorStep(a)
	if step == 1 {
		copy(dst, data[at:at+len(dst)])
		return
	}
	for i := range dst { // backwards, too
		dst[i] = data[at+i*step]
	}
}

// factorsGo is the twin of qFactorsAVX512: x·v/y of each v, rounded after each
// operation.
func factorsGo(v []float32, x, y float32) {
	for i := range v {
		v[i] = float32(x*v[i]) / y
	}
}

// termsGo is the twin of qTermsAVX512.
func termsGo(v, sums []int32, zero int32) {
	for i, s := range sums[:len(v)] {
		v[i] -= zero * s
	}
}

// epilogueBytes is the scratch that epilogue takes at most for n columns.
func epilogueBytes(n int, table *array.Array) int {
	size := 4 * par.ScratchSize(operand.RoundUp(n, qCols), 4)
	if table != nil {
		size += operand.LoadBytes(table)
	}
	return size
}

// lookupTable returns the 256 entries of a table of bytes.
func lookupTable(step string, w *par.Workspace, t *array.Array) []uint8 {
	if t.Len() != 256 || t.DType().Size() != 1 {
		operand.BadOperand(step, "the table does not have 256 elements of 8 bits")
	}
	return loadBytesOf(w, t)
}

// qResidual is a tensor of bytes that is added to the scaled sums before they are
// rounded, element by element.
type qResidual struct {
	bytes []uint8 // at the places of the results; nil where nothing is added
	scale float32 // over that of the result
	zero  int32   // of the bytes after flip
	flip  uint8
}

// residualOf reads the residual of a product whose result out has scale y. Its bytes
// are those of the whole tensor.
func residualOf(w *par.Workspace, step string, out *array.Array, in []*array.Array) (r qResidual) {
	a := operand.At(in, qRes)
	if a == nil {
		return r
	}
	if out.DType() != array.U8 && out.DType() != array.I8 {
		operand.BadOperand(step, "a residual is added to a result of "+out.DType().String()+", expected u8 or i8")
	}
	if !slices.Equal(a.Shape(), out.Shape()) {
		operand.BadOperand(step, "the residual has another shape than the result")
	}
	p := tensorParam(step, a.DType(), operand.At(in, qResScale), operand.At(in, qResZero))
	y := tensorParam(step, out.DType(), operand.At(in, qYScale), operand.At(in, qYZero))
	return qResidual{bytes: loadBytesOf(w, a), scale: p.scale / y.scale, zero: p.zero, flip: p.flip}
}

// residualBytes is the scratch that residualOf takes at most.
func residualBytes(in []*array.Array) int {
	if a := operand.At(in, qRes); a != nil {
		return operand.LoadBytes(a)
	}
	return 0
}

// small reports whether the added values are far from the ends of 32 bits, so
// that adding scaled sums cannot overflow.
func (r qResidual) small() bool {
	return r.bytes == nil || r.scale > -1<<15 && r.scale < 1<<15
}

// from returns the residual with n bytes less before it.
func (r qResidual) from(n int) qResidual {
	if r.bytes != nil {
		r.bytes = r.bytes[n:]
	}
	return r
}
