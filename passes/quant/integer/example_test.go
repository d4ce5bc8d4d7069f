package integer_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// What is written with floats between dequantize and quantize is computed on bytes.
func ExampleLower() {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: u8[N,4]) {
  symbol N = dim(%x, 0)
  %s = get_attr[s] : f32[]
  %w = get_attr[w] : i8[2,4]
  %d = call_function[dequantize](%x, %s) : f32[N,4]
  %v = call_function[dequantize](%w, %s) : f32[2,4]
  %y = call_function[linear](%d, %v) : f32[N,2]
  %r = call_function[relu](%y) : f32[N,2]
  %q = call_function[quantize](%r, %s) : u8[N,2]
  return %q
}
param s : f32[]
param w : i8[2,4]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	m.SetParam(graph.Param{Path: "s", Value: array.Scalar(float32(0.5))})
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]int8{1, 2, 3, 4, -1, -2, -3, -4}, 2, 4)})
	if _, err := passes.Run(context.Background(), m, []passes.Pass{integer.Lower}, passes.Options{}); err != nil {
		panic(err)
	}
	fmt.Print(m.Graph)
	// Output:
	// gofx 1
	//
	// graph net(%x: u8[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %s = get_attr[s] : f32[]
	//   %w = get_attr[w] : i8[2,4]
	//   %q_linear = call_function[q_linear](%x, %s, _, %w, %s, _, %s) {dtype=u8, relu=true} : u8[N,2]
	//   return %q_linear
	// }
}

// An operator without an integer form computes floats between dequantize and quantize.
func ExampleFloatsOnly() {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[2,4]) {
  %s = call_function[softmax](%x) {dim=-1}
  %r = call_function[relu](%s)
  return %r
}
`), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range m.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Printf("%s %q\n", n, integer.FloatsOnly(n))
		}
	}
	// Output:
	// %s "softmax has no form on quantised values"
	// %r ""
}
