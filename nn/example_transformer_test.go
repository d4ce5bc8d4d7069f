package nn_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Layers and stacks of transformers take PyTorch's arguments as options.
func ExampleNewTransformerEncoder() {
	enc := nn.NewTransformerEncoder(2, 16, 4, nn.Feedforward(32), nn.Activation(nn.NewGELU()), nn.NormFirst(), nn.FinalNorm(), nn.BatchFirst())
	x := tensor.Ones(2, 5, 16)
	padding := tensor.Zeros(2, 5).Cast(array.Bool)
	causal := tensor.Ones(5, 5).Triu(1).Cast(array.Bool) // true: the position in the column comes later
	fmt.Println(enc.Forward(x, causal, padding).Shape(), nn.StateDict(enc)[0].Name)
	layer := nn.NewTransformerEncoderLayer(16, 4)
	fmt.Println(layer.Linear1.Weight.Shape())
	// Output:
	// [2 5 16] layers.0.self_attn.in_proj_weight
	// [2048 16]
}

// A decoder computes a whole sequence with a causal mask, or position by position with what it keeps
// of those before.
func ExampleTransformerDecoder_Step() {
	dec := nn.NewTransformerDecoder(1, 8, 2, nn.Feedforward(16), nn.BatchFirst())
	memory, tgt := tensor.Ones(1, 3, 8), tensor.Arange(16).Cast(array.F32).Sin().Reshape(1, 2, 8)
	later := tensor.FromSlice([]bool{false, true, false, false}, 2, 2)
	all := dec.Forward(tgt, memory, later, nil, nil, nil)

	_, cache := dec.Step(tgt.Narrow(1, 0, 1), memory, nil, nil)
	last, _ := dec.Step(tgt.Narrow(1, 1, 1), nil, nil, cache)
	far := last.Sub(all.Narrow(1, 1, 1)).Abs().Max().Item()
	fmt.Println(far < 1e-5, cache[0].Shape())
	// Output: true [1 2 1 4]
}

func ExampleNewTransformerDecoderLayer() {
	layer := nn.NewTransformerDecoderLayer(8, 2, nn.Feedforward(16), nn.DropoutBetween(0.1, 1))
	y := layer.Forward(tensor.Ones(2, 1, 8), tensor.Ones(3, 1, 8), nil, nil, nil, nil)
	fmt.Println(y.Shape())
	// Output: [2 1 8]
}

func ExampleNewCosineSimilarity() {
	x, y := tensor.FromSlice([]float32{1, 0}, 1, 2), tensor.FromSlice([]float32{1, 1}, 1, 2)
	fmt.Printf("%.3f %.3f\n", nn.NewCosineSimilarity(1).Forward(x, y).Item(), nn.NewPairwiseDistance(2).Forward(x, y).Item())
	// Output: 0.707 1.000
}

// Unpooling puts maxima to where the pool found them.
func ExampleNewMaxUnpool2d() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	y, at := nn.NewMaxPool2d(2).ForwardIndices(x)
	fmt.Println(tensor.Data[float32](nn.NewMaxUnpool2d(2).Forward(y, at)))
	line, at := nn.NewMaxPool1d(2).ForwardIndices(x.Flatten(2, 3))
	fmt.Println(nn.NewMaxUnpool1d(2).ForwardTo(line, at, 5).Shape(), nn.NewMaxUnpool3d(2).Kernel)
	// Output:
	// [0 0 0 4]
	// [1 1 5] [2 2 2]
}

func ExampleNewSoftshrink() {
	x := tensor.FromSlice([]float32{-2, 0.25, 1})
	fmt.Println(tensor.Data[float32](nn.NewSoftshrink(0.5).Forward(x)), tensor.Data[float32](nn.NewHardshrink(0.5).Forward(x)))
	fmt.Printf("%.2f\n", tensor.Data[float32](nn.NewTanhshrink().Forward(x)))
	// Output:
	// [-1.5 0 0.5] [-2 0 1]
	// [-1.04 0.01 0.24]
}

// The dropouts for networks of SELU keep mean and variance.
func ExampleNewAlphaDropout() {
	m := nn.NewSequential(nn.NewAlphaDropout(0.1, nn.DropoutSeed(1)), nn.NewFeatureAlphaDropout(0.1, nn.DropoutSeed(2)))
	fmt.Println(m.Forward(tensor.Ones(1, 2)).Shape())
	// Output: [1 2]
}
