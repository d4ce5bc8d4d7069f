package tensor_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// A training step is an ordinary function: the gradient becomes part of its graph.
func ExampleGrad() {
	w := tensor.Param(tensor.FromSlice([]float32{1, 1}).Array())
	step := func(x, want *tensor.Tensor) *tensor.Tensor {
		loss := x.Mul(w).Sum().Sub(want).Square()
		grads := tensor.Grad(loss, w)
		limited := grads[0].Clamp(-1, 1) // ordinary code
		tensor.On(x, w).SubInPlace(limited.MulScalar(0.25))
		return loss
	}
	gm, err := fx.Trace(context.Background(), step, fx.Input("x", "f32[2]"), fx.Input("want", "f32[]"), fx.Root(&struct{ W *tensor.Tensor }{w}))
	if err != nil {
		fmt.Println(err) // every mistake, with its line and a cure
		return
	}
	for range 3 {
		out, err := gm.Run(context.Background(), tensor.FromSlice([]float32{1, 2}), tensor.Scalar(float32(2)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out[0].Item())
	}
	// Output:
	// 1
	// 0.0625
	// 0.140625
}

func ExampleGradWith() {
	f := func(x, y *tensor.Tensor) []*tensor.Tensor {
		return tensor.GradWith(x.Square().Sum(), []*tensor.Tensor{x, y}, tensor.GradOptions{AllowUnused: true})
	}
	gm, err := fx.Trace(context.Background(), f, fx.Input("x", "f32[2]"), fx.Input("y", "f32[2]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := gm.Run(context.Background(), tensor.FromSlice([]float32{1, 2}), tensor.FromSlice([]float32{3, 4}))
	fmt.Println(tensor.Data[float32](out[0]), tensor.Data[float32](out[1]), err)
	// Output: [2 4] [0 0] <nil>
}

// The derivative of x·c is c where c counts as constant.
func ExampleTensor_Detach() {
	x := tensor.FromSlice([]float32{1, 2, 3})
	_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return x.Mul(x.Detach()).Sum() }, x)
	fmt.Println(tensor.Data[float32](grads[0]), err)
	// Output: [1 2 3] <nil>
}
