package faults

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// ValueErrors are eager programs that panic with a diagnostic, by its code.
var ValueErrors = map[string]func(){
	"FX2009": tooLarge, "FX2020": noMeaning, "FX2021": nilTensor, "FX2022": notScalar, "FX2023": wrongElem, "FX2024": inPlaceType,
	"FX2025": badSize, "FX2026": noSequence, "FX2028": sharedElement, "FX2030": badIndex, "FX2031": emptyMax, "FX2032": badOperand,
}

func tooLarge() { tensor.Ones([]int{1 << 30, 1 << 30}) }

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
