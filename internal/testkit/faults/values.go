package faults

import (
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// ValueErrors are eager programs that panic with a diagnostic, by its code.
var ValueErrors = map[string]func(){
	"FX1018": notRecorded, "FX2009": tooLarge, "FX2020": noMeaning, "FX2021": nilTensor, "FX2022": notScalar, "FX2023": wrongElem, "FX2024": inPlaceType,
	"FX2025": badSize, "FX2026": noSequence, "FX2028": sharedElement, "FX2029": tooManyTrips, "FX2030": badIndex, "FX2031": emptyMax, "FX2032": badOperand, "FX2033": stepFails,
}

func tooLarge() { tensor.Ones(1<<30, 1<<30) }

func noMeaning() { tensor.CallOp(op.GetItem, nil, weight(2)) }

func nilTensor() {
	var x *tensor.Tensor
	x.Item()
}

func notScalar() { weight(2, 3).Item() }

func wrongElem() { tensor.Data[int64](weight(2)) }

func inPlaceType() { weight(2).AddInPlace(weight(3, 2)) }

func badSize() { weight(6).Reshape("2", 3) }

func noSequence() {
	tensor.Scan(func(carry, _ []*tensor.Tensor) (next, out []*tensor.Tensor) { return carry, nil }, []*tensor.Tensor{weight(1)}, nil)
}

func sharedElement() { weight(3).Expand(2, 3).AddScalarInPlace(1) }

func tooManyTrips() {
	tensor.WhileAtMost(2, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(9).Any() },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].AddScalar(1)} }, tensor.Zeros(1))
}

func badIndex() { tensor.Embedding(tensor.FromSlice([]int64{12}), weight(10, 4)) }

func emptyMax() {
	var w kernel.Workspace
	(&kernel.Reduce{Kind: "max"}).Run(&w, []*array.Array{array.New(array.F32)}, []*array.Array{array.New(array.F32, 0)})
}

func badOperand() {
	// A step run by hand on operands that its operator's type rule would refuse.
	var w kernel.Workspace
	(&kernel.Concat{Dim: 0}).Run(&w, []*array.Array{array.New(array.F32, 3)}, []*array.Array{array.New(array.F32, 5)})
}

func notRecorded() {
	w := weight(3)
	tensor.Grad(w.Square().Sum(), w)
}

func stepFails() {
	tensor.CallOp(reverse(), nil, weight(2, 3).T()) // whose kernel reads array.Data of its operand
}

// reverse is an operator whose kernel takes its operand for contiguous.
var reverse = sync.OnceValue(func() *op.Op {
	return op.Define("reverse_all", op.Spec[op.None]{
		Doc: "reverse_all returns the elements in reverse order.", In: op.Args("x"),
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return reverseStep{} },
	})
})

type reverseStep struct{}

func (reverseStep) Run(_ *kernel.Workspace, out, in []*array.Array) {
	y := array.Data[float32](out[0])
	copy(y, array.Data[float32](in[0]))
	slices.Reverse(y)
}
