package xla_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// A layer as StableHLO, for batches of 8: the weight is an argument after the input.
func ExampleEmit() {
	m, err := graph.Parse([]byte(`gofx 1
graph layer(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[fc.weight] : f32[2,4]
  %y = call_function[linear](%x, %w) : f32[N,2]
  %z = call_function[tanh](%y) : f32[N,2]
  return %z
}
param fc.weight : f32[2,4]
`), "layer.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": 8}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Inputs[0].Name, p.Inputs[0].Type(), p.Weights[0].Name, p.Weights[0].Type(), p.Outputs)
	fmt.Print(p)
	// Output:
	// x f32[8,4] fc.weight f32[2,4] [f32[8,2]]
	// module @layer {
	//   func.func public @main(%arg0: tensor<8x4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<8x2xf32>) {
	//     %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
	//     %1 = "stablehlo.tanh"(%0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
	//     "func.return"(%1) : (tensor<8x2xf32>) -> ()
	//   }
	// }
}

// What a graph has that no program can have is told without emitting one.
func ExampleSupports() {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[4]) {\n  %y = call_function[nonzero](%x)\n  return %y\n}\n"), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(xla.Supports(n))
		}
	}
	// Output: false sizes of its results follow from the values of its operands
}
