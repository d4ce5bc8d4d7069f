package ml_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/tensor"
)

// A tree of two nodes: x0 <= 1 gives 10, else x1 < 5 gives 20, else 30. The tables are operands, so that a
// model has them as parameters.
func ExampleTables() {
	t := &ml.Tables{
		Nodes:      []int32{0, 0, -1, 1, 1, 1, -2, -3},
		Thresholds: []float64{1, 5},
		Roots:      []int32{0},
		Starts:     []int32{0, 1, 2, 3},
		Columns:    []int32{0, 0, 0},
		Weights:    []float64{10, 20, 30},
	}
	x := tensor.FromSlice([]float32{1, 9, 2, 4, 2, 5}, 3, 2)
	in := []*tensor.Tensor{x}
	for _, a := range t.Arrays(array.F32, array.F32) {
		in = append(in, tensor.New(a))
	}
	y := tensor.CallOp(ml.TreeEnsemble, ml.TreeEnsembleAttrs{Targets: 1}, in...)
	fmt.Println(tensor.Data[float32](y))
	// Output: [10 20 30]
}
