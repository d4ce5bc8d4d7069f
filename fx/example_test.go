package fx_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// Net is an ordinary Go module.
type Net struct {
	Fc1, Fc2 *nn.Linear
}

func (m *Net) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc2.Forward(m.Fc1.Forward(x).Relu())
}

func Example() {
	ctx := context.Background()
	net := &Net{nn.NewLinear(64, 32), nn.NewLinear(32, 10)}

	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,64]"))
	if err != nil {
		fmt.Println(err) // every mistake, with the line of the model and a cure
		return
	}
	for n := range gm.Graph.Calls(std.Relu) { // replace relu by gelu
		if _, err := n.ReplaceWith(std.Gelu); err != nil {
			fmt.Println(err) // gelu does not take the operand: where, and why
			return
		}
	}
	fmt.Print(graph.PrintGraph(gm.Graph, graph.PrintOptions{}))

	out, err := gm.Run(ctx, tensor.Ones(3, 64))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Type())
	// Output:
	// gofx 1
	//
	// graph Net(%x: f32[N,64]) {
	//   symbol N = dim(%x, 0)
	//   %fc1 = call_module[fc1](%x) : f32[N,32]
	//   %gelu = call_method[gelu](%fc1) : f32[N,32]
	//   %fc2 = call_module[fc2](%gelu) : f32[N,10]
	//   return %fc2
	// }
	// f32[3,10]
}
