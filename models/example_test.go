package models_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func ExampleAll() {
	for _, m := range models.All() {
		if m.Name == "mlp" {
			fmt.Println(m.Name, m.Inputs[0].Name, m.Inputs[0].Type, m.Dims)
		}
	}
	// Output: mlp x f32[N,784] map[N:8]
}

// Synthetic weights and inputs follow a formula that any language can repeat.
func ExampleSynthetic() {
	m := models.Lookup("mlp")
	net := m.New().(*models.MLP)
	models.Synthetic(m, net, "gofx-1")
	fmt.Printf("%.6f\n", net.Fc1.Weight.At(0, 0).Item())

	in, err := m.SyntheticInputs("gofx-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(in[0].Type(), net.Forward(in[0]).Type())
	// Output:
	// -0.006349
	// f32[8,784] f32[8,10]
}

func ExampleSyntheticInput() {
	m := models.Lookup("gpt2")
	x, err := models.SyntheticInput(m.Inputs[0], "gofx-1", map[string]int{"N": 1, "S": 4})
	fmt.Println(x.Type(), err)
	_, err = models.SyntheticInput(m.Inputs[0], "gofx-1", nil)
	fmt.Println(err)
	// Output:
	// i64[1,4] <nil>
	// input input_ids has the unknown size N [FX8034]
	//     hint: give the size of every symbol
}

func ExampleNewStream() {
	s := models.NewStream("gofx-1", "fc1.weight")
	fmt.Printf("%.6f %.6f\n", s.At(0), s.At(1))
	// Output: 0.448685 0.890006
}

func ExampleRuleOf() {
	conv, bn := nn.NewConv2d(1, 1, 3), nn.NewBatchNorm2d(1)
	fmt.Println(models.RuleOf(conv, "weight", 4), models.RuleOf(conv, "bias", 1), models.RuleOf(bn, "weight", 1), models.RuleOf(bn, "running_var", 1))
	// Output: conv bias norm_weight running_var
}

// Networks are ordinary modules: they run, and are captured.
func ExampleNewMLP() {
	gm, err := fx.Trace(context.Background(), models.NewMLP(), fx.Input("x", "f32[N,784]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gm.Graph.Len(), gm.Graph.Output().Arg(0).Type())
	// Output: 7 f32[N,10]
}

func ExampleNewResNet18() {
	net := models.NewResNet18()
	for _, other := range []*models.ResNet{models.NewResNet34(), models.NewResNet50(), models.NewResNet101()} {
		fmt.Println(nn.NumParameters(net) < nn.NumParameters(other))
	}
	fmt.Println(net.Forward(tensor.Zeros([]int{1, 3, 32, 32})).Type())
	// Output:
	// true
	// true
	// true
	// f32[1,1000]
}

// Smaller configurations keep the structure.
func ExampleNewBert() {
	c := models.BertBase
	c.VocabSize, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 100, 8, 1, 2, 16
	hidden, pooled := models.NewBert(c).Forward(tensor.Arange(5).Unsqueeze(0), tensor.Arange(5).Unsqueeze(0).OnesLike())
	fmt.Println(hidden.Type(), pooled.Type())
	// Output: f32[1,5,8] f32[1,8]
}

func ExampleNewGPT2() {
	c := models.GPT2Config{VocabSize: 100, MaxPositions: 16, Width: 8, NumLayers: 1, NumHeads: 2, LayerNormEps: 1e-5}
	hidden, logits := models.NewGPT2(c).Forward(tensor.Arange(5).Unsqueeze(0))
	fmt.Println(hidden.Type(), logits.Type())
	// Output: f32[1,5,8] f32[1,5,100]
}
