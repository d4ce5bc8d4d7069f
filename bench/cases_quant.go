package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
)

// quantTol is the difference of results of one quantised network, relative to their
// mean magnitude: roundings that differ by a quantum add up over the layers. noisyTol is
// that of networks whose synthetic weights leave 20 dB of signal over noise.
const quantTol, noisyTol = 0.1, 0.25

// recurrentTol is that of the ten layers of an LSTM whose ranges are found in each step: 8 bits move its results by up
// to twice their mean magnitude from those in floats, and each peer's another way.
const recurrentTol = 0.5

// noisy are those networks.
var noisy = []string{"mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "efficientnet_b1"}

// ofTexts are the networks that find ranges in each run: those of attention and of
// recurrence.
var ofTexts = []string{"bert_base", "gpt2", "vit_b_16", "lstm_10x256"}

// floatPlan is the network in floats, next to which its quantised form stands.
var floatPlan = Engine{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }}

// quantCases are networks in 8 bits next to the same networks in floats, and to
// the peers on the same scales and weights.
func quantCases() (list []*Case) {
	static := quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}
	dynamic := quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	for _, m := range models.All() {
		if skipped(m) {
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
	if slices.Contains(noisy, m.Name) || config.Global.Mode == quant.Dynamic { // torchao has a scale for each row
		c.Tol = noisyTol
	}
	if m.Name == "lstm_10x256" {
		c.Tol = recurrentTol
	}
	return c
}

// past is how many tokens decoding finds in its cache.
const past = 128

// decoder is GPT-2 as it continues texts.
func decoder() *models.Model {
	size := models.GPT2Small
	m := &models.Model{Name: "gpt2_decode", New: func() any { return models.NewGPT2Decoder(size) }, Outputs: []string{"logits", "present"},
		Inputs: []models.InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: size.VocabSize}}, {Name: "past", Type: size.PastType(), Rule: models.Uniform{}}}}
	if full := models.Lookup("gpt2"); full != nil {
		m.Multipliers = full.Multipliers
	}
	return m
}

// decodeCase is the next token of each of some texts, which the bytes of the weights bound.
func decodeCase(group string, batch, bits int) *Case {
	m := decoder()
	shape := fmt.Sprintf("gpt2_decode_b%d", batch)
	if bits < 32 {
		shape = fmt.Sprintf("gpt2_decode_int%d_b%d", bits, batch)
	}
	return &Case{Group: group, Shape: shape, Network: m, Dims: map[string]int{"N": batch, "S": 1, "P": past}, Op: "network",
		Decoder: &models.GPT2Small, Bits: bits, Feed: func(w *network) error { return w.precede(m) }}
}

// precede has the decoder compute the tokens before, whose keys and values become its input.
func (w *network) precede(m *models.Model) error {
	dims := map[string]int{"N": w.dims["N"], "S": w.dims["P"], "P": 0}
	var in []*array.Array
	for _, spec := range m.Inputs {
		x, err := models.SyntheticInput(spec, seed+"-before", dims)
		if err != nil {
			return err
		}
		in = append(in, x.Array())
	}
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return err
	}
	out, err := fx.NewGraphModule(g).RunArrays(context.Background(), in)
	if err != nil {
		return fmt.Errorf("the tokens before: %w", err)
	}
	w.before, w.in[1] = in[0], tensor.New(out[1])
	return nil
}

// decodeCases are decoding in floats, next to the peers.
func decodeCases() (list []*Case) {
	for _, n := range []int{1, 8} {
		c := decodeCase("model", n, 32)
		c.Tol = networkTol
		c.Engines = []Engine{{Name: "plan", Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }}}
		list = append(list, c)
	}
	return list
}

// decodeTol is the difference that decoders in 4 bits are allowed. Their scales differ: where f32 has 0.70, gofx has 1.15 and
// llama.cpp 0.24, with a mean magnitude of 1.11.
const decodeTol = 1

// narrowDecodeCases are decoding with weights of 8 bits, and of 4 bits next to 8, bf16, f32, and
// reading as many bytes as f32 takes.
func narrowDecodeCases() (list []*Case) {
	weights := func(bits int) *quant.Config {
		return &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: bits}}}
	}
	four, eight := weights(4), weights(8)
	narrow := func(name string, q *quant.Config) Engine {
		return Engine{Name: name, Ours: func(w *network, threads int) (*Ours, error) { return w.narrow(*q, threads) }}
	}
	for _, n := range []int{1, 8} {
		c := decodeCase("quant", n, 8)
		c.Tol, c.Quant, c.Engines = quantTol, eight, []Engine{narrow("int8", eight), floatPlan}
		list = append(list, c)
	}
	c := decodeCase("quant", 1, 4)
	rough := narrow("int8", eight)
	rough.Rough = true
	c.Tol, c.Quant, c.Engines = decodeTol, four, []Engine{narrow("int4", four), rough,
		{Name: "bf16", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.stored(array.BF16, threads) }},
		{Name: "float", Rough: true, Ours: func(w *network, threads int) (*Ours, error) { return w.stored(array.Invalid, threads) }},
		{Name: "reading", Rough: true, Ours: reading}}
	return append(list, c)
}

// reading reads the bytes of a network in floats, and does nothing else.
func reading(w *network, threads int) (*Ours, error) {
	bytes := workOf(w.ready, nil).Bytes
	return &Ours{Name: "reading", Run: peak.Reader(int(bytes), threads), Bytes: bytes}, nil
}

// brainTol is the difference of results of networks whose operands are rounded to bf16, relative to their
// mean magnitude: peers round all values.
const brainTol = 0.15

// inBF16 are networks of convolutions and of products, and one whose convolutions are short.
var inBF16 = []string{"resnet50", "mobilenet_v3_large", "vit_b_16", "bert_base", "gpt2"}

// brainCases are networks with operands of products in bf16, next to the same networks in f32 and to the
// peers in bf16.
func brainCases() (list []*Case) {
	for _, name := range inBF16 {
		m := models.Lookup(name)
		list = append(list, &Case{Group: "bf16", Shape: name + "_b1", Tol: brainTol, Op: "network", Network: m, Dims: dimsOf(m, 1), Brain: true,
			Engines: []Engine{{Name: "bf16", Ours: (*network).brain}, floatPlan}})
	}
	return list
}

// brain runs the plan with operands of products in bf16.
func (w *network) brain(threads int) (*Ours, error) {
	g, err := w.optimised(fx.Optimise())
	if err != nil {
		return nil, err
	}
	return oursPlan(g, w.arrays(), lowering.Options{Threads: threads, Shapes: w.dims, Products: array.BF16})
}

// brainRequests returns the requests to the peers that compute a network in bf16: OpenVINO with its hint of
// precision, PyTorch with autocast, as it is and compiled.
func (b *bench) brainRequests(c *Case, row *Row, x *exported) (list []peerCase) {
	if b.procs["openvino"] != nil {
		if x.onnxErr != nil {
			b.leaveOut(c, row, "openvino", x.onnxErr)
		} else {
			list = append(list, peerCase{name: "openvino", process: "openvino",
				load: peers.Request{File: x.onnx, Inputs: x.feeds, Threads: b.threads, Variant: "bf16"}})
		}
	}
	if b.newest("torch") {
		for _, v := range []string{"bf16", "bf16-compile"} {
			list = append(list, peerCase{name: fmt.Sprintf("torch-%s", v), process: "torch", load: peers.Request{Op: c.Op, File: x.dir, Variant: v}})
		}
	}
	return list
}
