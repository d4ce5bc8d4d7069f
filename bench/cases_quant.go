package main

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
)

// quantTol is the difference of results of one quantised network, relative to their
// mean magnitude: roundings that differ by a quantum add up over the layers. noisyTol is
// that of networks whose synthetic weights leave 20 dB of signal over noise.
const quantTol, noisyTol = 0.1, 0.25

// noisy are those networks.
var noisy = []string{"mobilenet_v3_large"}

// ofTexts are the networks that find ranges in each run: those of attention and of
// recurrence.
var ofTexts = []string{"bert_base", "gpt2", "vit_b_16", "lstm_10x256"}

// floatPlan is the network in floats, beside which its quantised form stands.
var floatPlan = Engine{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }}

// quantCases are networks in 8 bits beside the same networks in floats, and beside
// the peers on the same scales and weights.
func quantCases() (list []*Case) {
	static := quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}
	dynamic := quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	for _, m := range models.All() {
		if again(m) {
			continue
		}
		config := static
		if slices.Contains(ofTexts, m.Name) {
			config = dynamic
		}
		batches := []int{1, 8}
		if m.Name == "deep_recommender" { // as the paper of torch.fx has it
			batches = []int{1, 8, 16, 64, 128, 256}
		}
		for _, n := range batches {
			list = append(list, quantCase(m, n, config))
		}
	}
	return append(list, narrowDecodeCases()...)
}

func quantCase(m *models.Model, batch int, config quant.Config) *Case {
	c := &Case{Group: "quant", Shape: fmt.Sprintf("%s_%s_b%d", m.Name, config.Global.Mode, batch), Tol: quantTol, Op: "network",
		Network: m, Dims: dimsOf(m, batch), Quant: &config, Engines: []Engine{
			{Name: "int8", Ours: func(w *network, threads int) (*Ours, error) { return w.quantisedPlan(config, threads) }}, floatPlan}}
	if slices.Contains(noisy, m.Name) {
		c.Tol = noisyTol
	}
	return c
}
