package main

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// int8 quantises everything to 8 bits. int4 gives the linear layer weights of 4 bits, the only
// form of them that the CPU target has.
var (
	int8 = &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	int4 = &quant.Config{Global: quant.Setting{Mode: quant.Static}, Rules: []quant.Rule{
		{Selector: quant.Selector{Op: "linear"}, Setting: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: 4}}},
	}}
)

// quantised trains a trained model on for a few epochs, for its quantisation, and returns the quantised
// graph and the accuracy of the graph that was trained.
func quantised(ctx context.Context, model *Net, c *quant.Config, training, test *train.Batches, epochs int) (*fx.GraphModule, float64, error) {
	steps := epochs * training.Len()
	q, err := train.Quantise(ctx, model, c, cpu.QuantBackend(), quant.Training{Observe: steps / 2, Freeze: steps * 3 / 4}, fx.Input("images", "u8[N,8,8]"))
	if err != nil {
		return nil, 0, err
	}
	loss := func(images, labels *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
		logits := q.Forward(images)
		right := logits.Argmax(1).Eq(labels).Cast(array.F32).Mean()
		return nn.NewCrossEntropyLoss().Forward(logits, labels), train.Metrics{"accuracy": right}
	}
	specs := []fx.Option{fx.Input("images", "u8[N,8,8]"), fx.Input("labels", "i64[N]")}
	rule := optim.Rule{Optimiser: optim.AdamW{LR: 3e-4}, Schedule: optim.Cosine(steps, 0.01), ClipNorm: 1}
	step, err := train.NewStep(ctx, q, loss, rule, specs...)
	if err != nil {
		return nil, 0, err
	}
	eval, err := train.NewEval(ctx, q, loss, specs...)
	if err != nil {
		return nil, 0, err
	}
	trainer := &train.Trainer{Step: step, Eval: eval, Epochs: epochs}
	list, err := trainer.Fit(ctx, training, test)
	if err != nil {
		return nil, 0, err
	}
	gm, err := q.Convert(ctx)
	return gm, list[len(list)-1].Metrics["test_accuracy"], err
}
