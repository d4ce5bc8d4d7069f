package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Full sets every element of out[0] to Value or, for integer types, IntValue;
// bool is true when either is not zero. It takes no inputs.
//
//gofx:kernel
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
