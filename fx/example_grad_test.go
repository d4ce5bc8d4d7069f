package fx_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Fit is the mean squared error of a linear layer.
type Fit struct{ Fc *nn.Linear }

func (m *Fit) Forward(x, want *tensor.Tensor) *tensor.Tensor {
	return m.Fc.Forward(x).Sub(want).Square().Mean()
}

func ExampleGraphModule_ValueAndGrad() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, &Fit{nn.NewLinear(2, 1)}, fx.Input("x", "f32[N,2]"), fx.Input("want", "f32[N,1]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	step, err := gm.ValueAndGrad(ctx, fx.GradOptions{}) // by all parameters
	if err != nil {
		fmt.Println(err) // every mistake, with the line of the model and a cure
		return
	}
	out, err := step.Run(ctx, tensor.Ones(3, 2), tensor.Ones(3, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, name := range []string{"loss", "fc.weight", "fc.bias"} {
		fmt.Println(name, out[i].Type())
	}
	// Output:
	// loss f32[]
	// fc.weight f32[1,2]
	// fc.bias f32[1]
}

func ExampleGraphModule_Gradient() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.Square().Sum() }, fx.Input("x", "f32[3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := g.Run(ctx, tensor.FromSlice([]float32{1, 2, 3}))
	fmt.Println(tensor.Data[float32](out[0]), err)
	// Output: [2 4 6] <nil>
}

func ExampleGraphModule_VJP() {
	ctx := context.Background()
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return x.Square() }, fx.Input("x", "f32[3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := gm.VJP(ctx, fx.GradOptions{Wrt: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	seed := tensor.FromSlice([]float32{1, 0, 10})
	out, err := g.Run(ctx, tensor.FromSlice([]float32{1, 2, 3}), seed)
	fmt.Println(tensor.Data[float32](out[0]), tensor.Data[float32](out[1]), err)
	// Output: [1 4 9] [2 0 60] <nil>
}
