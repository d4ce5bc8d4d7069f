package main

import (
	"context"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// runHead trains the head of an imported network and logs each epoch.
func runHead(ctx context.Context, epochs int, seed uint64) error {
	trainer, training, test, err := setUpHead(ctx, epochs, seed)
	if err != nil {
		return err
	}
	trainer.Log = os.Stdout
	_, err = trainer.Fit(ctx, training, test)
	return err
}

// setUpHead takes a network that PyTorch has exported, and has its last layer learn other classes
// than it was trained for: nine minus the digit. All else stays as it is, and no gradient of it is
// computed.
func setUpHead(ctx context.Context, epochs int, seed uint64) (t *train.Trainer, training, test *train.Batches, err error) {
	model, err := importHead("../onnx/digits.onnx", seed)
	if err != nil {
		return nil, nil, nil, err
	}
	of := train.Supervised{Model: model, Loss: nn.NewCrossEntropyLoss(), Metrics: []string{"accuracy"}}
	data, err := otherClasses()
	if err != nil {
		return nil, nil, nil, err
	}
	if data, of.Target, err = of.Fit(data, []string{"image", "class"}); err != nil {
		return nil, nil, nil, err
	}
	if training, err = train.NewBatches(train.Batches{Data: train.Rows(data, func(i int) bool { return i%4 != 3 }), Classes: of.Classes(), Size: 32, Shuffle: true, Seed: seed}); err != nil {
		return nil, nil, nil, err
	}
	if test, err = train.NewBatches(train.Batches{Data: train.Rows(data, func(i int) bool { return i%4 == 3 }), Classes: of.Classes(), Size: 128}); err != nil {
		return nil, nil, nil, err
	}
	rule := optim.Rule{Groups: []optim.Group{{Params: []string{"fc.*"}, Optimiser: optim.Adam{LR: 0.02}}}} // no Optimiser: all others are frozen
	step, err := of.Step(ctx, rule)
	if err != nil {
		return nil, nil, nil, err
	}
	eval, err := of.Evaluation(ctx)
	return &train.Trainer{Step: step, Eval: eval, Epochs: epochs}, training, test, err
}

// importHead imports the network and begins its last layer again, with random weights.
func importHead(file string, seed uint64) (*fx.GraphModule, error) {
	f, err := onnx.Read(file)
	if err != nil {
		return nil, err
	}
	m, err := f.Import(onnx.Options{})
	if err != nil {
		return nil, err
	}
	fresh := nn.NewLinear(32, 10, nn.Seed(seed))
	for path, w := range map[string]*tensor.Tensor{"fc.weight": fresh.Weight, "fc.bias": fresh.Bias} {
		p := *m.Param(path)
		p.Value = w.Array()
		m.SetParam(p)
	}
	return fx.NewGraphModule(m), nil
}

// otherClasses are the images as the network takes them, f32[N,1,8,8], and nine minus their digits.
func otherClasses() ([]*array.Array, error) {
	data, err := train.ReadNPY("../digits/images.npy", "../digits/labels.npy")
	if err != nil {
		return nil, err
	}
	images := tensor.New(data[0]).Cast(array.F32).DivScalar(16).Unsqueeze(1)
	classes := tensor.New(toInt64(data[1])).Neg().AddScalar(9)
	return []*array.Array{images.Array(), classes.Array()}, nil
}
