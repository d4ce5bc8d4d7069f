package recompute_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/passes/recompute"
)

const twoLayers = `gofx 1

graph net(%x: f32[2,3], %v: f32[3,8], %w: f32[8,3]) {
  %a = call_function[matmul](%x, %v) : f32[2,8]
  %b = call_function[sin](%a) : f32[2,8]
  %c = call_function[matmul](%b, %w) : f32[2,3]
  %loss = call_function[sum](%c) : f32[]
  return %loss
}
`

// The gradient by w reads the sine, which is computed again of the product. That is kept, for the
// gradient of the sine reads it.
func ExamplePass() {
	ctx := context.Background()
	m, err := graph.Parse([]byte(twoLayers), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"v", "w"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := passes.Run(ctx, g, []passes.Pass{recompute.Pass(recompute.Policy{})}, passes.Options{})
	if err != nil {
		fmt.Println(err) // scopes that do not occur, a budget that is too small
		return
	}
	fmt.Println(report.Passes[0].Notes[0])
	for n := range g.Graph.Nodes() {
		if again, _ := grad.Backward.Get(n); again && (n.Op().Name == "barrier" || n.Op().Name == "sin") {
			fmt.Println(n.Text())
		}
	}
	// Output:
	// 1 calls are computed again; the backward half reads 68 bytes of forward values instead of 132
	// %barrier = call_function[barrier](%a) : f32[2,8]
	// %sin = call_function[sin](%barrier) : f32[2,8]
}
