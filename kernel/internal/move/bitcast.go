package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Bitcast gives the bits of in[0] the element type of out[0], of the same size.
//
//gofx:kernel
type Bitcast struct{}

// ScratchBytes implements Scratcher.
func (Bitcast) ScratchBytes(_, in []*array.Array) int { return DenseBytes(in[0]) }

// Run implements Step.
func (Bitcast) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	if o.Len() != a.Len() || o.DType().Size() != a.DType().Size() {
		operand.BadOperand("bitcast", "the result has another number of elements, or larger or smaller ones")
	}
	switch o.DType().Size() {
	case 1:
		copy(RawOut[uint8](o), RawDense[uint8](w, a))
	case 2:
		copy(RawOut[uint16](o), RawDense[uint16](w, a))
	case 4:
		copy(RawOut[uint32](o), RawDense[uint32](w, a))
	default:
		copy(RawOut[uint64](o), RawDense[uint64](w, a))
	}
}
