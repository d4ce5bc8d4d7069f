package interp_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

func module() *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1

graph net(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2]
  %mul = call_function[mul](%x, %w) : f32[N,2]
  %relu = call_function[relu](%mul) : f32[N,2]
  return %relu
}
param w : f32[2]
`), "net.fx")
	if err != nil {
		panic(err)
	}
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{1, -1})})
	return m
}

// A hook sees every node with its operands, and may change what it computes.
func ExampleInterpreter_hooks() {
	p := &interp.Interpreter{State: interp.NewState(module())}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if n.Opcode().IsCall() {
			fmt.Println(n, tensor.Data[float32](v.T))
		}
		return v, err
	}
	out, err := p.Run(context.Background(), tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	fmt.Println(tensor.Data[float32](out[0]), err)

	_, err = p.Run(context.Background(), tensor.Ones(2, 3))
	fmt.Println(err)
	// Output:
	// %mul [1 -2 3 -4]
	// %relu [1 0 3 0]
	// [1 0 3 0] <nil>
	// node %x: input "x" is f32[2,3], expected f32[N,2] [FX1022]
	//     hint: capture it again for these sizes, or with symbolic ones
}

// Known gives values in advance: what they make unnecessary is not run.
func ExampleInterpreter_known() {
	m := module()
	p := &interp.Interpreter{State: interp.NewState(m), Known: map[*graph.Node]interp.Result{
		m.Graph.Find("mul"): {T: tensor.FromSlice([]float32{-7, 7})},
	}}
	out, err := p.Run(context.Background(), tensor.Ones(1, 2))
	fmt.Println(tensor.Data[float32](out[0]), err)
	// Output: [0 7] <nil>
}

func ExampleNewState() {
	s := interp.NewState(module())
	fmt.Println(tensor.Data[float32](s.Tensor("w")), s.Tensor("bias") == nil)
	// Output: [1 -1] true
}

// A Transformer writes a new graph, node by node.
func ExampleTransformer_replace() {
	m := module()
	t := &interp.Transformer{Node: func(c *graph.Cursor, n *graph.Node, args []*graph.Node, copy func() *graph.Node) *graph.Node {
		if n.Op() == std.Relu {
			return c.Function(std.Gelu, nil, args...)
		}
		return copy()
	}}
	out, err := t.Run(m)
	fmt.Println(err)
	fmt.Print(out.Graph)
	fmt.Println(m.Graph.Find("relu").Text()) // the old graph is as it was
	// Output:
	// <nil>
	// gofx 1
	//
	// graph net(%x: f32[N,2]) {
	//   symbol N = dim(%x, 0)
	//   %w = get_attr[w] : f32[2]
	//   %mul = call_function[mul](%x, %w) : f32[N,2]
	//   %gelu = call_function[gelu](%mul) : f32[N,2]
	//   return %gelu
	// }
	// %relu = call_function[relu](%mul) : f32[N,2]
}
