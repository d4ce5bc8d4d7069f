package quant

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

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
	if operand.At(in, qResScale) == nil || !slices.Equal(a.Shape(), out.Shape()) {
		operand.BadOperand(step, "the residual has no scale, or another shape than the result")
	}
	p := tensorParam(step, a.DType(), in[qResScale], operand.At(in, qResZero))
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

// small reports whether what is added is far from the ends of 32 bits, so that
// scaled sums beside it cannot overflow.
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

// requantAddGo is the twin of qRequantAddAVX512: requantGo with a residual, whose
// rows are as far apart as those of dst.
func requantAddGo(rows, cols int, acc []int32, ldacc int, e *qEpilogue, col int, dst []uint8, ld int, from qResidual) {
	bias, scale := e.bias[col:col+cols], e.scale[col:col+cols]
	for r := range rows {
		src, d, add := acc[r*ldacc:r*ldacc+cols], dst[r*ld:r*ld+cols], from.bytes[r*ld:r*ld+cols]
		for i, v := range src {
			f := float32(float32(v+bias[i]) * scale[i])
			f += float32(float32(int32(add[i]^from.flip)-from.zero) * from.scale)
			d[i] = uint8(clampRound(f, e.lo, e.hi, e.zero))
		}
	}
}
