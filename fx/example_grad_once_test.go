package fx_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// The function reads values and branches on them.
func ExampleValueAndGrad() {
	w := tensor.FromSlice([]float32{3, -1})
	loss, grads, err := fx.ValueAndGrad(func() *tensor.Tensor {
		y := w.Square().Sum()
		if y.Item() > 5 {
			return y.MulScalar(0.5)
		}
		return y
	}, w)
	if err != nil {
		fmt.Println(err) // every mistake, with its line and a cure
		return
	}
	fmt.Println(loss.Item(), tensor.Data[float32](grads[0]))
	// Output: 5 [3 -1]
}

func ExampleValueAndGradWith() {
	w, other := tensor.FromSlice([]float32{3, -1}), tensor.Ones(1)
	f := func() *tensor.Tensor { return w.Sum() }
	_, grads, err := fx.ValueAndGradWith(context.Background(), f, []*tensor.Tensor{w, other}, tensor.GradOptions{AllowUnused: true})
	fmt.Println(tensor.Data[float32](grads[1]), err)
	// Output: [0] <nil>
}

// How x² changes in a direction: 2·x·direction.
func ExampleGraphModule_JVP() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.Square() }, fx.Input("x", "f32[3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gm.JVP(ctx, fx.GradOptions{Wrt: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := g.Run(ctx, tensor.FromSlice([]float32{1, 2, 3}), tensor.FromSlice([]float32{1, 0, 10}))
	fmt.Println(tensor.Data[float32](out[0]), tensor.Data[float32](out[1]), err)
	// Output: [1 4 9] [2 0 60] <nil>
}

// The Hessian of the sum of x³ is diagonal: 6·x.
func ExampleGraphModule_HVP() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.PowScalar(3).Sum() }, fx.Input("x", "f32[2]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gm.HVP(ctx, fx.GradOptions{Wrt: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := g.Run(ctx, tensor.FromSlice([]float32{1, 2}), tensor.FromSlice([]float32{1, -1}))
	fmt.Println(out[0].Item(), tensor.Data[float32](out[1]), tensor.Data[float32](out[2]), err)
	// Output: 9 [3 12] [6 -12] <nil>
}
