package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Full sets every element of out[0] to Value or, for integer types, IntValue;
// bool is true when either is not zero. It takes no inputs.
type Full struct {
	Value    float64
	IntValue int
}

// Run implements Step.
func (f Full) Run(_ *par.Workspace, out, _ []*array.Array) {
	o := out[0]
	v := operand.ValueBits(o.DType(), f.Value)
	switch {
	case o.DType().IsInt():
		v = uint64(f.IntValue)
	case o.DType() == array.Bool && f.IntValue != 0:
		v = 1
	}
	fillBits(o, v)
}

// Arange sets element i of the vector out[0] to Start + i*Step, computed in
// float64, or for integer types to IntStart + i*IntStep. It takes no inputs.
type Arange struct {
	Start, Step       float64
	IntStart, IntStep int
}

// ScratchBytes implements Scratcher.
func (Arange) ScratchBytes(out, _ []*array.Array) int { return rampBytes(out[0]) }

// Run implements Step.
func (r Arange) Run(w *par.Workspace, out, _ []*array.Array) {
	defer w.Release(w.Mark())
	o := out[0]
	if !o.DType().IsFloat() {
		y := OutAs[int64](w, o)
		for i := range y {
			y[i] = int64(r.IntStart + i*r.IntStep)
		}
		SaveAs(o, y)
		return
	}
	y := OutAs[float64](w, o)
	for i := range y {
		y[i] = r.Start + float64(float64(i)*r.Step)
	}
	SaveAs(o, y)
}

// rampBytes returns the scratch bytes that filling o in float64 or int64 takes.
func rampBytes(o *array.Array) int {
	if o.DType() == array.F64 || o.DType() == array.I64 || o.DType() == array.U64 {
		return 0
	}
	return par.ScratchSize(o.Len(), 8)
}

// Linspace sets the vector out[0] to evenly spaced values from Start to End,
// both included; one element is Start. The second half is computed from End, so
// that the ends are exact. Integer types truncate. It takes no inputs.
type Linspace struct{ Start, End float64 }

// ScratchBytes implements Scratcher.
func (Linspace) ScratchBytes(out, _ []*array.Array) int {
	if out[0].DType() == array.F64 {
		return 0
	}
	return par.ScratchSize(out[0].Len(), 8)
}

// Run implements Step.
func (l Linspace) Run(w *par.Workspace, out, _ []*array.Array) {
	defer w.Release(w.Mark())
	y := OutAs[float64](w, out[0])
	n := len(y)
	step := (l.End - l.Start) / float64(max(n-1, 1))
	for i := range y {
		if i < (n+1)/2 {
			y[i] = l.Start + float64(step*float64(i))
		} else {
			y[i] = l.End - float64(step*float64(n-1-i))
		}
	}
	SaveAs(out[0], y)
}

// Eye sets the matrix out[0] to 1 on the main diagonal and 0 elsewhere. It
// takes no inputs.
type Eye struct{}

// Run implements Step.
func (Eye) Run(_ *par.Workspace, out, _ []*array.Array) {
	o := out[0]
	if o.Rank() != 2 {
		operand.BadOperand("eye", "the result is not a matrix")
	}
	fillBits(o, 0)
	one := operand.ValueBits(o.DType(), 1)
	for i := range min(o.Dim(0), o.Dim(1)) {
		at := i * (o.Dim(1) + 1)
		switch o.DType().Size() {
		case 1:
			RawOut[uint8](o)[at] = uint8(one)
		case 2:
			RawOut[uint16](o)[at] = uint16(one)
		case 4:
			RawOut[uint32](o)[at] = uint32(one)
		default:
			RawOut[uint64](o)[at] = one
		}
	}
}
