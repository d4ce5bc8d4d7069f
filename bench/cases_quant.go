package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
)

// quantTol is the difference of results of one quantised network, relative to their
// mean magnitude: roundings that differ by a quantum add up over the layers. noisyTol is
// that of a network whose synthetic weights leave 20 dB of signal over noise.
const quantTol, noisyTol = 0.1, 0.25

// quantCases are networks in 8 bits beside the same networks in floats, and beside
// ONNX Runtime on the same scales and weights.
func quantCases() []*Case {
	static := quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}
	dynamic := quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	noisy := quantCase("mobilenet_v3_large", 1, static)
	noisy.Tol = noisyTol
	list := []*Case{quantCase("resnet18", 1, static), quantCase("resnet50", 1, static), noisy, quantCase("bert_base", 1, dynamic)}
	for _, n := range []int{1, 16, 64, 128, 256} {
		list = append(list, quantCase("deep_recommender", n, static))
	}
	return list
}

func quantCase(name string, batch int, config quant.Config) *Case {
	m := models.Lookup(name)
	return &Case{Group: "quant", Shape: fmt.Sprintf("%s_%s_b%d", name, config.Global.Mode, batch), Tol: quantTol, Op: "network",
		Network: m, Dims: dimsOf(m, batch), Quant: &config, Engines: []Engine{
			{Name: "int8", Ours: func(w *network, threads int) (*Ours, error) { return w.quantisedPlan(config, threads) }},
			{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }},
		}}
}
