package train_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// A line through points: y = 2x + 1.
func ExampleNewStep() {
	ctx := context.Background()
	model := nn.NewLinear(1, 1, nn.Seed(1))
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewMSELoss().Forward(model.Forward(x), y) }
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9}}
	step, err := train.NewStep(ctx, model, loss, rule, fx.Input("x", "f32[N,1]"), fx.Input("y", "f32[N,1]"))
	if err != nil {
		fmt.Println(err) // all mistakes, at the model's lines
		return
	}
	x, y := array.FromSlice([]float32{0, 1, 2}, 3, 1), array.FromSlice([]float32{1, 3, 5}, 3, 1)
	for range 200 {
		if _, err := step.Run(ctx, x, y); err != nil {
			fmt.Println(err)
			return
		}
	}
	step.Sync()
	fmt.Printf("y = %.2fx + %.2f\n", model.Weight.Item(), model.Bias.Item())
	// Output:
	// y = 2.00x + 1.00
}

// Products in bf16, the rest in f32.
func ExampleNewStepWith_mixed() {
	ctx := context.Background()
	model := nn.NewLinear(1, 1, nn.Seed(1))
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewMSELoss().Forward(model.Forward(x), y) }
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9}}
	specs := []fx.Option{fx.Input("x", "f32[N,1]"), fx.Input("y", "f32[N,1]")}
	step, err := train.NewStepWith(ctx, model, loss, rule, train.StepOptions{Mixed: array.BF16}, specs...)
	if err != nil {
		fmt.Println(err)
		return
	}
	half, full := step.Mixed()
	fmt.Println(len(half), len(full), model.Weight.DType())
	// Output:
	// 1 0 f32
}

// A step that keeps less for its gradients and computes the activations of the layers again.
func ExampleNewStepWith_recompute() {
	ctx := context.Background()
	model := nn.NewSequential(nn.NewLinear(4, 32, nn.Seed(1)), nn.NewGELU(), nn.NewLinear(32, 32, nn.Seed(2)), nn.NewGELU(), nn.NewLinear(32, 1, nn.Seed(3)))
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewMSELoss().Forward(model.Forward(x), y) }
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.1}}
	specs := []fx.Option{fx.Input("x", "f32[N,4]"), fx.Input("y", "f32[N,1]")}
	step, err := train.NewStepWith(ctx, model, loss, rule, train.StepOptions{Recompute: &fx.RecomputePolicy{}}, specs...)
	if err != nil {
		fmt.Println(err)
		return
	}
	again := 0
	for n := range step.Graph().Graph.Nodes() {
		if n.Op() == std.Barrier {
			again++
		}
	}
	fmt.Println(again, "barriers")
	// Output:
	// 2 barriers
}

// The step is a graph: SGD of one weight.
func ExampleStep_Graph() {
	type scale struct{ W *tensor.Tensor }
	m := &scale{tensor.Param(array.Scalar[float32](2))}
	loss := func(x *tensor.Tensor) *tensor.Tensor { return m.W.Mul(x).Square().Mean() }
	step, err := train.NewStep(context.Background(), m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.5}}, fx.Input("x", "f32[3]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := step.Graph().Run(context.Background(), tensor.Ones(3)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(step.Params(), step.Updates(), m.W.Item())
	// Output:
	// [w] 1 0
}

func ExampleTrainer_Fit() {
	ctx := context.Background()
	model := nn.NewSequential(nn.NewLinear(2, 8, nn.Seed(1)), nn.NewTanh(), nn.NewLinear(8, 2, nn.Seed(2)))
	loss := func(x, y *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
		logits := model.Forward(x)
		right := logits.Argmax(1).Eq(y).Cast(array.F32).Mean()
		return nn.NewCrossEntropyLoss().Forward(logits, y), train.Metrics{"accuracy": right}
	}
	specs := []fx.Option{fx.Input("x", "f32[N,2]"), fx.Input("y", "i64[N]")}
	step, err := train.NewStep(ctx, model, loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.05}}, specs...)
	if err != nil {
		fmt.Println(err)
		return
	}
	eval, err := train.NewEval(ctx, model, loss, specs...)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The exclusive or of two bits.
	x := array.FromSlice([]float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)
	y := array.FromSlice([]int64{0, 1, 1, 0}, 4)
	batches, err := train.NewBatches(train.Batches{Data: []*array.Array{x, y}, Size: 2, Shuffle: true, Classes: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	trainer := &train.Trainer{
		Step: step, Eval: eval, Epochs: 200,
		Stop: &train.EarlyStop{Metric: "test_loss", Patience: 10, MinDelta: 1e-3},
	}
	epochs, err := trainer.Fit(ctx, batches, batches)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(epochs[len(epochs)-1].Metrics["test_accuracy"])
	// Output:
	// 1
}

func ExampleNewBatches() {
	x := array.FromSlice([]float32{1, 2, 3, 4}, 4, 1)
	y := array.FromSlice([]int64{0, 1, 2, 0}, 4)
	_, err := train.NewBatches(train.Batches{Data: []*array.Array{x, y}, Size: 2, Classes: 2})
	fmt.Println(err)
	// Output:
	// the label of row 2 is 2, expected a class from 0 to 1 [FX3104]
	//     hint: count classes from 0 on, or set Classes
}

func ExampleRows() {
	y := array.FromSlice([]int64{10, 11, 12, 13}, 4)
	test := train.Rows([]*array.Array{y}, func(i int) bool { return i%2 == 1 })
	fmt.Println(array.Data[int64](test[0]))
	// Output:
	// [11 13]
}

func ExampleReadCSV() {
	x, y, err := train.ReadCSV(strings.NewReader("width,height,kind\n1.5,2,0\n3,4.5,1\n"), train.CSV{Header: true, Label: -1})
	fmt.Println(array.Data[float32](x), array.Data[int64](y), err)
	_, _, err = train.ReadCSV(strings.NewReader("1.5,2,0\n3,wide,1\n"), train.CSV{Label: -1})
	fmt.Println(err)
	// Output:
	// [1.5 2 3 4.5] [0 1] <nil>
	// csv:2: field 1 is "wide", expected a finite number [FX3105]
}

func ExampleReadNPY() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path, table := filepath.Join(dir, "labels.npy"), filepath.Join(dir, "table.csv")
	if err := npy.WriteFile(path, array.FromSlice([]int64{3, 1}, 2)); err != nil {
		fmt.Println(err)
		return
	}
	data, err := train.ReadNPY(path)
	fmt.Println(array.Data[int64](data[0]), err)
	if err := os.WriteFile(table, []byte("7,0.5\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	x, y, err := train.ReadCSVFile(table, train.CSV{})
	fmt.Println(array.Data[float32](x), array.Data[int64](y), err)
	// Output:
	// [3 1] <nil>
	// [0.5] [7] <nil>
}

// A perceptron is trained for 8-bit weights and values: the first ten steps observe ranges, the
// others learn scales.
func ExampleQuantise() {
	ctx := context.Background()
	model := nn.NewSequential(nn.NewLinear(2, 8), nn.NewReLU(), nn.NewLinear(8, 1))
	nn.ResetParameters(model, 1)
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	q, err := train.Quantise(ctx, model, config, cpu.QuantBackend(), quant.Training{Observe: 10}, fx.Input("x", "f32[N,2]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewMSELoss().Forward(q.Forward(x), y) }
	step, err := train.NewStep(ctx, q, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.05}}, fx.Input("x", "f32[N,2]"), fx.Input("y", "f32[N,1]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := array.FromSlice([]float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)
	y := array.FromSlice([]float32{0, 1, 1, 2}, 4, 1)
	for range 20 {
		if _, err := step.Run(ctx, x, y); err != nil {
			fmt.Println(err)
			return
		}
	}
	step.Sync()
	want, _ := q.Evaluated().RunArrays(ctx, []*array.Array{x})
	gm, err := q.Convert(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, _ := gm.RunArrays(ctx, []*array.Array{x})
	fmt.Println(bytes.Equal(array.Bytes(want[0]), array.Bytes(got[0])))
	// Output: true
}
