package xla_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// A layer as one program for all batches of up to 8.
func ExampleEmitBounded() {
	m, err := graph.Parse([]byte(`gofx 1
graph layer(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[fc.weight] : f32[2,4]
  %y = call_function[linear](%x, %w) : f32[N,2]
  return %y
}
param fc.weight : f32[2,4]
`), "layer.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Outputs)
	fmt.Print(p)
	// Output:
	// [f32[N,2]]
	// module @layer {
	//   func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<i32>) -> (tensor<8x2xf32>) {
	//     %0 = "stablehlo.set_dimension_size"(%arg0, %arg2) {dimension = 0 : i64} : (tensor<8x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
	//     %1 = "stablehlo.dot_general"(%0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<2x4xf32>) -> tensor<?x2xf32, #stablehlo.bounds<8, ?>>
	//     %2 = "stablehlo.constant"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>
	//     %3 = "stablehlo.set_dimension_size"(%1, %2) {dimension = 0 : i64} : (tensor<?x2xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<8x2xf32>
	//     "func.return"(%3) : (tensor<8x2xf32>) -> ()
	//   }
	// }
}
