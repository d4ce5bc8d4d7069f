package nn_test

import (
	"bytes"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func ExampleNewSequential() {
	m := nn.NewSequential(
		nn.NewConv2d(1, 4, 3, nn.Padding(1), nn.NoBias()),
		nn.NewBatchNorm2d(4),
		nn.NewReLU(),
		nn.NewAdaptiveAvgPool2d(1),
		nn.NewFlatten(),
		nn.NewLinear(4, 2),
	)
	y := nn.Run(m, tensor.Ones(3, 1, 8, 8))
	fmt.Println(y.Shape(), nn.NumParameters(m))
	// Output: [3 2] 54
}

// Residual is a module of the user's own: any struct with modules or tensors and
// a Forward method.
type Residual struct {
	Fc   *nn.Linear
	Norm *nn.LayerNorm
}

func (m *Residual) Forward(x, scale *tensor.Tensor) *tensor.Tensor {
	return m.Norm.Forward(x.Add(m.Fc.Forward(x).Mul(scale)))
}

func ExampleRun() {
	m := &Residual{nn.NewLinear(2, 2, nn.NoInit()), nn.NewLayerNorm([]int{2})}
	y := nn.Run(m, tensor.FromSlice([]float32{1, 3}, 1, 2), tensor.Scalar(float32(0.5)))
	fmt.Printf("%.3f\n", tensor.Data[float32](y))
	// Output: [-1.000 1.000]
}

func ExampleStateDict() {
	m := &Residual{nn.NewLinear(2, 2), nn.NewLayerNorm([]int{2})}
	for _, e := range nn.StateDict(m) {
		fmt.Println(e.Name, e.Tensor.Type())
	}
	// Output:
	// fc.weight f32[2,2]
	// fc.bias f32[2]
	// norm.weight f32[2]
	// norm.bias f32[2]
}

func ExampleLoadStateDict() {
	m := nn.NewLinear(2, 1)
	err := nn.LoadStateDict(m, nn.Arrays{
		"weight": array.FromSlice([]float32{1, 2, 3}, 1, 3),
		"gain":   array.FromSlice([]float32{1}, 1),
	})
	fmt.Println(err)

	err = nn.LoadStateDict(m, nn.Arrays{
		"weight": array.FromSlice([]float32{1, 2}, 1, 2),
		"bias":   array.FromSlice([]float32{3}, 1),
	})
	fmt.Println(err, m.Forward(tensor.FromSlice([]float32{10, 100}, 1, 2)).Item())
	// Output:
	// weight: is f32[1,3], the module expects f32[1,2] [FX8032]
	// bias: is missing, the module expects f32[1] [FX8030]
	// gain: is unexpected, the module has no such tensor [FX8031]
	// <nil> 213
}

func ExampleSaveStateDict() {
	var b bytes.Buffer
	if err := nn.SaveStateDict(&b, nn.NewLinear(3, 2), nil); err != nil {
		panic(err)
	}
	f, err := safetensors.Parse(b.Bytes())
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Names(), nn.LoadStateDict(nn.NewLinear(3, 2), nn.File(f)))
	// Output: [weight bias] <nil>
}

func ExampleTrain() {
	m := nn.NewSequential(nn.NewBatchNorm1d(1), nn.NewDropout(0.5, nn.DropoutSeed(1)))
	nn.Train(m)
	nn.Run(m, tensor.FromSlice([]float32{1, 2, 3}, 3, 1))
	nn.Eval(m)
	bn := m.Modules[0].(*nn.BatchNorm1d)
	fmt.Printf("%.1f\n", bn.RunningMean.Item())
	// Output: 0.2
}

func ExampleResetParameters() {
	m := nn.NewSequential(nn.NewLinear(2, 2), nn.NewLinear(2, 2))
	nn.ResetParameters(m, 42)
	a, b := m.Modules[0].(*nn.Linear), m.Modules[1].(*nn.Linear)
	fmt.Println(a.Weight.Equal(b.Weight))
	// Output: false
}
