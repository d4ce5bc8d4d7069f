package fusion_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/tensor"
)

// fold runs a fusion on a network and prints the calls that are left.
func fold(net any, typ string, p passes.Pass) {
	gm, err := fx.Trace(context.Background(), net, fx.Input("x", typ))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := gm.Apply(context.Background(), []fx.Pass{p}, fx.PassOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range gm.Graph.Nodes() {
		if n.Opcode().IsCall() {
			fmt.Println(n.Text())
		}
	}
	for _, e := range report.Passes[0].Refused {
		why, _, _ := strings.Cut(e.Why, " at ") // the line of the model
		fmt.Println(e.Node, "stays:", why)
	}
}

func Example_convBN() {
	fold(nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU()), "f32[N,3,8,8]", fusion.ConvBN)
	// Output:
	// %_0 = call_module[0_folded](%x) : f32[N,4,6,6]
	// %_2 = call_module[2](%_0) : f32[N,4,6,6]
}

// both uses the convolution's own result, too.
type both struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
}

func (m *both) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Conv.Forward(x)
	return m.Bn.Forward(y).Add(y)
}

// What is left alone says why.
func Example_convBN_refused() {
	fold(&both{nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4)}, "f32[N,3,8,8]", fusion.ConvBN)
	// Output:
	// %conv = call_module[conv](%x) : f32[N,4,6,6]
	// %bn = call_module[bn](%conv) : f32[N,4,6,6]
	// %add = call_method[add](%bn, %conv) : f32[N,4,6,6]
	// %bn stays: the result of %conv is also used by %add
}

func Example_linearBN() {
	fold(nn.NewSequential(nn.NewLinear(8, 4), nn.NewBatchNorm1d(4)), "f32[N,8]", fusion.LinearBN)
	// Output: %_0 = call_module[0_folded](%x) : f32[N,4]
}
