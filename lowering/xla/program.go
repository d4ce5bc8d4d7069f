package xla

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/shape"
)

// Name is the target's name in messages and flags.
const Name = "xla"

// Argument is an argument of a program's main function.
type Argument struct {
	// Name is that of a placeholder, or the path of a tensor of the module's state.
	Name  string
	DType array.DType
	Dims  []int
	// Bounded says of which dimensions Dims has only the greatest sizes; nil of none.
	Bounded []bool
	// Local are the sizes of the part that each partition has, nil where the program
	// is not sharded.
	Local []int
}

// takes reports whether a tensor of a type can be the argument.
func (a Argument) takes(t shape.Type) bool {
	d, dims, ok := t.Concrete()
	if !ok || d != a.DType || len(dims) != len(a.Dims) {
		return false
	}
	for i, n := range dims {
		if n != a.Dims[i] && (a.Bounded == nil || !a.Bounded[i] || n > a.Dims[i]) {
			return false
		}
	}
	return true
}

// Type returns the argument's type.
func (a Argument) Type() shape.Type { return shape.TensorType(a.DType, shape.ConstDims(a.Dims...)) }

// Program is a StableHLO module with one function, main. Its arguments are first the
// inputs, then the weights, then sizes, all in the order of their lists; its results are the
// outputs of the graph in order.
type Program struct {
	// Inputs are the placeholders of the graph, in order; main has an argument for
	// each, also for those with default values.
	Inputs []Argument
	// Weights are the tensors of the module's state that the program reads, in the
	// order of their first use: data of the caller, never constants of the text.
	Weights []Argument
	// Sizes are the symbols whose size in a run main takes as a scalar of i32 (EmitBounded).
	Sizes []string
	// Outputs are the types of the results. Those of Sizes are as large as the bounds.
	Outputs []shape.Type

	code *stablehlo.Module
}

// String returns the text: MLIR's generic form of the operations, one a line. Equal
// graphs give equal texts.
func (p *Program) String() string { return p.code.String() }
