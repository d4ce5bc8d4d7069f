package main

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peak"
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
	noisy.Tol, noisy.Torch = noisyTol, false
	list := []*Case{quantCase("resnet18", 1, static), quantCase("resnet50", 1, static), noisy, quantCase("bert_base", 1, dynamic)}
	for _, n := range []int{1, 16, 64, 128, 256} {
		list = append(list, quantCase("deep_recommender", n, static))
	}
	return append(list, decodeCase())
}

// past is how many tokens decoding finds in its cache.
const past = 128

// decodeCase is the next token of a text of GPT-2, which the bytes of its weights bound:
// in 4 bits beside 8, bf16, f32, and reading as many bytes as f32 takes.
func decodeCase() *Case {
	size := models.GPT2Small
	m := &models.Model{Name: "gpt2_decode", New: func() any { return models.NewGPT2Decoder(size) }, Outputs: []string{"logits", "present"},
		Inputs: []models.InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: size.VocabSize}}, {Name: "past", Type: size.PastType(), Rule: models.Uniform{}}}}
	if full := models.Lookup("gpt2"); full != nil {
		m.Multipliers = full.Multipliers
	}
	weights := func(bits int) quant.Config {
		return quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: bits}}}
	}
	four, eight := weights(4), weights(8)
	return &Case{Group: "quant", Shape: "gpt2_decode_b1", Tol: quantTol, Network: m, Dims: map[string]int{"N": 1, "S": 1, "P": past}, Quant: &four,
		Engines: []Engine{
			{Name: "int4", Ours: func(w *network, threads int) (*Ours, error) { return w.narrow(four, threads) }},
			{Name: "int8", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.narrow(eight, threads) }},
			{Name: "bf16", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.stored(array.BF16, threads) }},
			{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.stored(array.Invalid, threads) }},
			{Name: "reading", Rough: true, Ours: reading},
		}}
}

// reading reads the bytes of a network in floats, and does nothing else.
func reading(w *network, threads int) (*Ours, error) {
	bytes := workOf(w.ready, nil).Bytes
	return &Ours{Name: "reading", Run: peak.Reader(int(bytes), threads), Bytes: bytes}, nil
}

func quantCase(name string, batch int, config quant.Config) *Case {
	m := models.Lookup(name)
	return &Case{Group: "quant", Shape: fmt.Sprintf("%s_%s_b%d", name, config.Global.Mode, batch), Tol: quantTol, Op: "network",
		Network: m, Dims: dimsOf(m, batch), Quant: &config, Torch: true, Engines: []Engine{
			{Name: "int8", Ours: func(w *network, threads int) (*Ours, error) { return w.quantisedPlan(config, threads) }},
			{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }},
		}}
}
