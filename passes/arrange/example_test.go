package arrange_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/tensor"
)

// apply prints the calls of a function after a pass.
func apply(f any, types []string, p passes.Pass) {
	var opts []fx.Option
	for i, t := range types {
		opts = append(opts, fx.Input(string(rune('x'+i)), t))
	}
	gm, err := fx.Trace(context.Background(), f, opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := gm.Apply(context.Background(), []passes.Pass{p}, fx.PassOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Text())
		}
	}
}

// What is computed between two permutations that undo each other is computed without them.
func Example_moves() {
	apply(func(x *tensor.Tensor) *tensor.Tensor {
		return x.Permute(0, 2, 3, 1).MulScalar(2).Relu().Permute(0, 3, 1, 2)
	}, []string{"f32[N,3,H,W]"}, arrange.Moves)
	// Output:
	// %mul_1 = call_function[mul](%x) {other=2} : f32[N,3,H,W]
	// %relu_1 = call_function[relu](%mul_1) : f32[N,3,H,W]
}

// Products compute in bf16, what is to be exact in f32.
func ExampleHalve() {
	apply(func(x, y *tensor.Tensor) *tensor.Tensor {
		return x.Matmul(y).Relu().Softmax(-1)
	}, []string{"f32[N,8]", "f32[8,8]"}, arrange.Halve("products", array.BF16, func(n *graph.Node) bool { return n.Op() != std.Relu }))
	// Output:
	// %cast = call_function[cast](%x) {dtype=bf16} : bf16[N,8]
	// %cast_1 = call_function[cast](%y) {dtype=bf16} : bf16[8,8]
	// %matmul_1 = call_function[matmul](%cast, %cast_1) : bf16[N,8]
	// %cast_2 = call_function[cast](%matmul_1) {dtype=f32} : f32[N,8]
	// %relu = call_method[relu](%cast_2) : f32[N,8]
	// %softmax = call_method[softmax](%relu) {dim=-1} : f32[N,8]
}

// Weights stay in f32 and are cast, so that a gradient by them is in f32.
func ExampleMixed() {
	w := tensor.Param(array.New(array.F32, 8, 8))
	apply(func(x *tensor.Tensor) *tensor.Tensor { return x.Matmul(w).Relu() }, []string{"f32[N,8]"}, arrange.Mixed(array.F16))
	// Output:
	// %cast = call_function[cast](%x) {dtype=f16} : f16[N,8]
	// %cast_1 = call_function[cast](%_tensor_constant0) {dtype=f16} : f16[8,8]
	// %matmul_1 = call_function[matmul](%cast, %cast_1) : f16[N,8]
	// %relu_1 = call_function[relu](%matmul_1) : f16[N,8]
	// %cast_3 = call_function[cast](%relu_1) {dtype=f32} : f32[N,8]
}
