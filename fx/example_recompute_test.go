package fx_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// The activations of a network are computed again for the gradients, whose bits stay the same.
func ExampleRecompute() {
	ctx := context.Background()
	net := nn.NewSequential(nn.NewLinear(2, 8, nn.Seed(1)), nn.NewTanh(), nn.NewLinear(8, 8, nn.Seed(2)), nn.NewGELU(), nn.NewLinear(8, 1, nn.Seed(3)))
	loss := func(x *tensor.Tensor) *tensor.Tensor { return net.Forward(x).Square().Mean() }
	var results [2][]*tensor.Tensor
	for i := range results {
		gm, err := fx.Trace(ctx, loss, fx.Input("x", "f32[N,2]"), fx.Root(net))
		if err != nil {
			fmt.Println(err)
			return
		}
		g, err := gm.ValueAndGrad(ctx, fx.GradOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		if i == 1 {
			passes := append([]fx.Pass{fx.Recompute(fx.RecomputePolicy{})}, fx.Optimise()...)
			if _, err := g.Apply(ctx, passes[:1], fx.PassOptions{}); err != nil { // the others round in another order
				fmt.Println(err)
				return
			}
		}
		if results[i], err = g.Run(ctx, tensor.Ones(4, 2)); err != nil {
			fmt.Println(err)
			return
		}
	}
	same := true
	for k := range results[0] {
		same = same && results[0][k].Equal(results[1][k])
	}
	fmt.Println(len(results[0]), same)
	// Output:
	// 7 true
}
