package nn_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// One example a family: layers take PyTorch's arguments, with its defaults as
// options.

func ExampleNewLinear() {
	fc := nn.NewLinear(3, 2, nn.NoBias(), nn.Seed(1))
	nn.Constant(fc.Weight, 0.5)
	y := fc.Forward(tensor.FromSlice([]float32{1, 2, 3}, 1, 3))
	fmt.Println(tensor.Data[float32](y), fc.Bias == nil)
	// Output: [3 3] true
}

func ExampleNewConv2d() {
	conv := nn.NewConv2d(4, 8, 3, nn.Stride(2), nn.Padding(1), nn.Groups(2), nn.PaddingMode("zeros"))
	up := nn.NewConvTranspose2d(8, 4, 2, nn.Stride(2))
	x := tensor.Zeros(1, 4, 9, 9)
	fmt.Println(conv.Weight.Shape(), conv.Forward(x).Shape(), up.Forward(conv.Forward(x)).Shape())
	// Output: [8 2 3 3] [1 8 5 5] [1 4 10 10]
}

func ExampleNewMaxPool2d() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	fmt.Println(tensor.Data[float32](nn.NewMaxPool2d(2, nn.Stride(1)).Forward(x)))
	fmt.Println(tensor.Data[float32](nn.NewAvgPool2d(2, nn.CeilMode()).Forward(x)))
	// Output:
	// [5 6 8 9]
	// [3 4.5 7.5 9]
}

func ExampleNewAdaptiveAvgPool2d() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	fmt.Println(nn.NewAdaptiveAvgPool2d(1).Forward(x).Item())
	// Output: 2.5
}

func ExampleNewBatchNorm1d() {
	bn := nn.NewBatchNorm1d(2, nn.Eps(0), nn.Affine(false)) // in evaluation mode: running statistics
	nn.Constant(bn.RunningMean, 1)
	nn.Constant(bn.RunningVar, 4)
	fmt.Println(tensor.Data[float32](bn.Forward(tensor.FromSlice([]float32{1, 5}, 1, 2))))
	// Output: [0 2]
}

func ExampleNewLayerNorm() {
	x := tensor.FromSlice([]float32{1, 3}, 1, 2)
	fmt.Printf("%.2f %.2f\n", tensor.Data[float32](nn.NewLayerNorm([]int{2}).Forward(x)),
		tensor.Data[float32](nn.NewRMSNorm([]int{2}).Forward(x)))
	// Output: [-1.00 1.00] [0.45 1.34]
}

func ExampleNewGroupNorm() {
	x := tensor.FromSlice([]float32{1, 3, 10, 30}, 1, 4)
	fmt.Printf("%.2f\n", tensor.Data[float32](nn.NewGroupNorm(2, 4).Forward(x)))
	// Output: [-1.00 1.00 -1.00 1.00]
}

func ExampleNewGELU() {
	x := tensor.FromSlice([]float32{-1, 0, 1})
	for _, m := range []nn.Module{nn.NewReLU(), nn.NewGELU(), nn.NewGELUTanh(), nn.NewLeakyReLU(0.1)} {
		fmt.Printf("%.4f\n", tensor.Data[float32](nn.Run(m, x)))
	}
	// Output:
	// [0.0000 0.0000 1.0000]
	// [-0.1587 0.0000 0.8413]
	// [-0.1588 0.0000 0.8412]
	// [-0.1000 0.0000 1.0000]
}

func ExampleNewEmbedding() {
	table := nn.NewEmbedding(10, 4, nn.PaddingIdx(0))
	ids := tensor.FromSlice([]int64{0, 7}, 1, 2)
	y := table.Forward(ids)
	fmt.Println(y.Shape(), y.At(0, 0).Abs().Sum().Item())
	// Output: [1 2 4] 0
}

func ExampleNewLSTM() {
	rnn := nn.NewLSTM(3, 5, nn.NumLayers(2), nn.Bidirectional(), nn.BatchFirst())
	y, h, c := rnn.Forward(tensor.Zeros(2, 7, 3), nil, nil)
	fmt.Println(y.Shape(), h.Shape(), c.Shape())
	// Output: [2 7 10] [4 2 5] [4 2 5]
}

func ExampleNewMultiheadAttention() {
	mha := nn.NewMultiheadAttention(8, 2, nn.BatchFirst())
	x := tensor.Zeros(1, 5, 8)
	fmt.Println(mha.Forward(x, x, x, nil, nil).Shape())
	// Output: [1 5 8]
}

func ExampleNewDropout() {
	d := nn.NewDropout(0.5, nn.DropoutSeed(3))
	x := tensor.Ones(1000)
	fmt.Println(d.Forward(x).Sum().Item()) // modules start in evaluation mode
	nn.Train(d)
	kept := d.Forward(x).Sum().Item() / 2
	fmt.Println(kept > 400 && kept < 600)
	// Output:
	// 1000
	// true
}

func ExampleNewConstantPad() {
	x := tensor.FromSlice([]float32{1, 2, 3}, 1, 1, 3)
	fmt.Println(tensor.Data[float32](nn.NewConstantPad(9, 1, 0).Forward(x)), tensor.Data[float32](nn.NewReflectionPad(2, 2).Forward(x)))
	// Output: [9 1 2 3] [3 2 1 2 3 2 1]
}

func ExampleNewPixelShuffle() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 4, 1, 1)
	y := nn.NewPixelShuffle(2).Forward(x)
	fmt.Println(y.Shape(), tensor.Data[float32](y), nn.NewPixelUnshuffle(2).Forward(y).Shape())
	// Output: [1 1 2 2] [1 2 3 4] [1 4 1 1]
}

func ExampleNewFlatten() {
	x := tensor.Zeros(2, 3, 4)
	fmt.Println(nn.NewFlatten().Forward(x).Shape(), nn.NewUnflatten(-1, 2, 2).Forward(x).Shape())
	// Output: [2 12] [2 3 2 2]
}

// Containers of named modules give paths their names.
func ExampleNewModuleDict() {
	d := nn.NewModuleDict(nn.Named("head", nn.NewLinear(2, 1)), nn.Named("tail", nn.NewLinear(2, 1, nn.NoBias())))
	for _, e := range nn.StateDict(d) {
		fmt.Println(e.Name)
	}
	// Output:
	// head.weight
	// head.bias
	// tail.weight
}
