package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// networkTol is the difference of results that networks are allowed, relative to
// their mean magnitude.
const networkTol = 5e-3

// tokens is the length of the texts.
const tokens = 128

// modelCases are the networks of package models, with one input and with eight.
func modelCases() []*Case {
	var list []*Case
	for _, m := range models.All() {
		if skipped(m) {
			continue
		}
		for _, n := range []int{1, 8} {
			list = append(list, &Case{Group: "model", Shape: fmt.Sprintf("%s_b%d", m.Name, n), Tol: networkTol, Op: "network",
				Network: m, Dims: dimsOf(m, n), Engines: []Engine{
					{Name: "plan", Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }},
					{Name: "eager", Ours: func(w *network, _ int) (*Ours, error) { return w.eager() }},
					{Name: "interp", Ours: func(w *network, _ int) (*Ours, error) { return w.interp(fx.Optimise()) }},
					{Name: "gen"}}})
		}
	}
	return append(list, decodeCases()...)
}

// unmeasured are networks that the benchmark leaves out: tests hold what they compute.
var unmeasured = []string{"alexnet", "vgg11", "googlenet", "shufflenet_v2_x1_0", "regnet_y_400mf", "convnext_tiny", "swin_t", "quantized_resnet18", "tridentnet",
	"blockdrop", "fcn_resnet50", "deeplabv3_mobilenet_v3_large", "monodepth_resnet18", "bert_large", "roberta_base", "roberta_large", "distilbert", "deberta_base",
	"align", "lstm_cells", "gru_bidir", "attn_decoder", "greedy_decoder", "wordseg"}

var batchSuffix = regexp.MustCompile(`_b\d+$`)

// skipped reports whether an entry has no cases: it is another one with a batch of its own, or unmeasured.
func skipped(m *models.Model) bool {
	if slices.Contains(unmeasured, m.Name) {
		return true
	}
	base := batchSuffix.ReplaceAllString(m.Name, "")
	return base != m.Name && models.Lookup(base) != nil
}

// dimsOf are the sizes of the reference with another batch.
func dimsOf(m *models.Model, batch int) map[string]int {
	dims := maps.Clone(m.Dims)
	dims["N"] = batch
	if _, ok := dims["S"]; ok {
		dims["S"] = tokens
	}
	return dims
}

// foldCases are ResNet-50 with and without folding batch norms into convolutions.
func foldCases() []*Case {
	var list []*Case
	m := models.Lookup("resnet50")
	for _, n := range []int{1, 8} {
		add := func(engine string, run func(w *network, pipeline []passes.Pass, threads int) (*Ours, error)) {
			list = append(list, &Case{Group: "fold", Shape: fmt.Sprintf("resnet50_%s_b%d", engine, n), Tol: networkTol,
				Network: m, Dims: dimsOf(m, n), Engines: []Engine{
					{Name: "folded", Ours: func(w *network, threads int) (*Ours, error) { return run(w, fx.Optimise(), threads) }},
					{Name: "not folded", Ours: func(w *network, threads int) (*Ours, error) { return run(w, without("conv-bn", "bn-affine"), threads) }}}})
		}
		add("plan", (*network).plan)
		add("interp", func(w *network, pipeline []passes.Pass, _ int) (*Ours, error) { return w.interp(pipeline) })
	}
	return list
}

// stepTol is the difference of the losses of the first steps that peers are allowed.
const stepTol = 1e-3

// training is what a step has besides its network.
type training struct {
	target models.InputSpec
	// loss returns the loss of a network that the step opens, by its input and the target.
	loss func(module any) func(x, target *tensor.Tensor) *tensor.Tensor
	rule optim.Optimiser
	// peer describes network and optimiser to PyTorch's side (torch_steps.py).
	peer map[string]any
}

// stepCases are steps of training, forwards, backwards and update, next to PyTorch's.
func stepCases() []*Case {
	text := models.GPT2Small
	text.NumLayers = 2
	gpt := *models.Lookup("gpt2")
	gpt.New = func() any { return models.NewGPT2(text) }
	list := []*Case{stepCase("resnet18", models.Lookup("resnet18"), 8, classes),
		stepCase("gpt2_2layers", &gpt, 1, following(text))}
	lstm := *models.Lookup("lstm_10x256") // of a known length, as the target has
	lstm.Inputs = []models.InputSpec{{Name: "x", Type: "f32[64,N,256]", Rule: models.Uniform{}}}
	for _, n := range []int{1, 8} {
		list = append(list, stepCase("lstm_10x256", &lstm, n, sequences))
	}
	return list
}

func stepCase(name string, m *models.Model, batch int, t training) *Case {
	return &Case{Group: "step", Shape: fmt.Sprintf("%s_step_b%d", name, batch), Tol: stepTol, Op: "step",
		Network: m, Dims: dimsOf(m, batch), Train: &t}
}

// classes is the classification of images.
var classes = training{
	target: models.InputSpec{Name: "labels", Type: "i64[N]", Rule: models.Integers{High: 1000}},
	loss: func(module any) func(x, labels *tensor.Tensor) *tensor.Tensor {
		return func(x, labels *tensor.Tensor) *tensor.Tensor {
			return nn.NewCrossEntropyLoss().Forward(nn.Run(module, x), labels)
		}
	},
	rule: optim.SGD{LR: 0.01, Momentum: 0.9, WeightDecay: 1e-4},
	peer: map[string]any{"network": "resnet18", "optimiser": "SGD", "settings": map[string]any{"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4}},
}

// following is the prediction of the next token of texts.
func following(c models.GPT2Config) training {
	return training{
		target: models.InputSpec{Name: "following", Type: "i64[N,S]", Rule: models.Integers{High: c.VocabSize}},
		loss: func(module any) func(ids, next *tensor.Tensor) *tensor.Tensor {
			return func(ids, next *tensor.Tensor) *tensor.Tensor {
				logits := nn.RunAll(module, ids)[1]
				return nn.NewCrossEntropyLoss().Forward(tensor.Flatten(logits, 0, 1), tensor.Flatten(next, 0, 1))
			}
		},
		rule: optim.AdamW{LR: 1e-4, WeightDecay: 0.01},
		peer: map[string]any{"network": "gpt2", "sizes": []any{c.VocabSize, c.MaxPositions, c.Width, c.NumLayers, c.NumHeads, c.LayerNormEps},
			"optimiser": "AdamW", "settings": map[string]any{"lr": 1e-4, "weight_decay": 0.01}},
	}
}

// sequences is a regression at each place of sequences.
var sequences = training{
	target: models.InputSpec{Name: "target", Type: "f32[64,N,256]", Rule: models.Uniform{}},
	loss: func(module any) func(x, target *tensor.Tensor) *tensor.Tensor {
		return func(x, target *tensor.Tensor) *tensor.Tensor {
			return nn.NewMSELoss().Forward(nn.RunAll(module, x)[0], target)
		}
	},
	rule: optim.Adam{LR: 1e-3},
	peer: map[string]any{"network": "lstm", "sizes": []any{256, 256, 10}, "optimiser": "Adam", "settings": map[string]any{"lr": 1e-3}},
}

// attentionCases are the attention of BERT base and of GPT-2 small between the
// projections: queries, keys and values are [1, tokens, heads, 64].
func attentionCases() []*Case {
	return []*Case{
		attentionCase("bert", 128, false), attentionCase("bert", 512, false),
		attentionCase("gpt2", 128, true), attentionCase("gpt2", 1024, true),
	}
}

func attentionCase(name string, tokens int, causal bool) *Case {
	const heads, size = 12, 64
	shape := []int{1, tokens, heads, size}
	c := &Case{Group: "attention", Shape: fmt.Sprintf("%s_%d", name, tokens), Tol: 2e-3, Op: "attention",
		Attrs: map[string]any{"causal": causal}}
	for i := range 3 {
		c.Inputs = append(c.Inputs, f32(i+1, 1, 0, shape...))
	}
	n := float64(tokens)
	c.Work = Work{Flops: 4 * n * n * heads * size, Bytes: 4 * 4 * n * heads * size}
	if causal {
		c.Work.Flops /= 2 // half of the scores are masked
	}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursAttention(in, causal, threads) }
	c.Graphs = []Graph{
		{"ort", func(c *Case) *onnxpb.Model { return attentionGraph(c, shape, causal) }},
		{"ort-fused", func(c *Case) *onnxpb.Model { return fusedAttentionGraph(c, shape, causal) }},
	}
	return c
}

// attentionGraph spells attention out.
func attentionGraph(c *Case, shape []int, causal bool) *onnxpb.Model {
	m := c.model(shape...)
	n := shape[1]
	q := node(m, "Transpose", "", []string{"x0"}, attr("perm", []int{0, 2, 1, 3}))
	k := node(m, "Transpose", "", []string{"x1"}, attr("perm", []int{0, 2, 3, 1}))
	v := node(m, "Transpose", "", []string{"x2"}, attr("perm", []int{0, 2, 1, 3}))
	s := node(m, "MatMul", "", []string{q, k})
	s = node(m, "Mul", "", []string{s, floats(m, "scale", nil, float32(1/math.Sqrt(float64(shape[3]))))})
	if causal {
		mask := make([]float32, n*n)
		for i := range mask {
			if i%n > i/n {
				mask[i] = float32(math.Inf(-1))
			}
		}
		s = node(m, "Add", "", []string{s, floats(m, "mask", []int{n, n}, mask...)})
	}
	p := node(m, "Softmax", "", []string{s}, attr("axis", -1))
	y := node(m, "MatMul", "", []string{p, v})
	node(m, "Transpose", "y", []string{y}, attr("perm", []int{0, 2, 1, 3}))
	return m
}

// fusedAttentionGraph uses ONNX Runtime's own operator.
func fusedAttentionGraph(c *Case, shape []int, causal bool) *onnxpb.Model {
	m := c.model(shape...)
	wide := ints(m, "wide", 1, shape[1], shape[2]*shape[3])
	var in []string
	for i := range 3 {
		in = append(in, node(m, "Reshape", "", []string{inputName(i), wide}))
	}
	unidirectional := 0
	if causal {
		unidirectional = 1
	}
	m.Nodes = append(m.Nodes, onnxpb.Node{Op: "MultiHeadAttention", Domain: microsoft, In: in, Out: []string{"fused"},
		Attrs: []onnxpb.Attr{attr("num_heads", shape[2]), attr("unidirectional", unidirectional)}})
	node(m, "Reshape", "y", []string{"fused", ints(m, "heads", shape...)})
	return m
}

// rnnCases are ten LSTM layers of width 256.
func rnnCases() []*Case {
	var list []*Case
	for _, batch := range []int{1, 16} {
		list = append(list, lstmCase(64, batch, 256, 10))
	}
	return list
}

func lstmCase(steps, batch, hidden, layers int) *Case {
	c := &Case{Group: "rnn", Shape: fmt.Sprintf("lstm_%dx%d_t%d_b%d", layers, hidden, steps, batch), Tol: 2e-3, Op: "lstm",
		Attrs: map[string]any{"input": hidden, "hidden": hidden, "layers": layers}}
	c.Inputs = []Input{f32(0, 1, 0, steps, batch, hidden)}
	for l := range layers {
		for j, shape := range [][]int{{4 * hidden, hidden}, {4 * hidden, hidden}, {4 * hidden}, {4 * hidden}} {
			w := weight(1+4*l+j, hidden, shape...)
			c.Inputs = append(c.Inputs, w)
		}
	}
	weights := 0
	for _, in := range c.Inputs[1:] {
		weights += in.Bytes()
	}
	c.Work = Work{
		Flops: 2 * float64(steps*batch*layers) * float64(8*hidden*hidden),
		Bytes: float64(weights) + 8*float64(steps*batch*hidden),
	}
	c.Ours = func(in []*array.Array, threads int) (*Ours, error) { return oursLSTM(in, layers, threads) }
	c.Graphs = []Graph{{"ort", func(c *Case) *onnxpb.Model { return lstmGraph(c, steps, batch, hidden, layers) }}}
	return c
}

// lstmGraph chains ONNX's one-layer LSTM, whose gates come in another order.
func lstmGraph(c *Case, steps, batch, hidden, layers int) *onnxpb.Model {
	m := &onnxpb.Model{Opset: 17,
		Inputs:  []onnxpb.ValueInfo{{Name: "x0", Type: onnxpb.Float, Shape: c.Inputs[0].Shape}},
		Outputs: []onnxpb.ValueInfo{{Name: "y", Type: onnxpb.Float, Shape: []int{steps, batch, hidden}}}}
	axis := ints(m, "axis", 1)
	x := "x0"
	for l := range layers {
		in := c.Inputs[1+4*l : 5+4*l]
		name := func(s string) string { return fmt.Sprintf("%s%d", s, l) }
		add := func(s string, shape []int, data []byte) {
			m.Constant = append(m.Constant, onnxpb.Tensor{Name: name(s), Type: onnxpb.Float, Shape: shape, Data: data})
		}
		add("w", []int{1, 4 * hidden, hidden}, gates(in[0].Tensor, hidden))
		add("r", []int{1, 4 * hidden, hidden}, gates(in[1].Tensor, hidden))
		add("b", []int{1, 8 * hidden}, append(gates(in[2].Tensor, hidden), gates(in[3].Tensor, hidden)...))
		h := node(m, "LSTM", "", []string{x, name("w"), name("r"), name("b")}, attr("hidden_size", hidden))
		out := ""
		if l+1 == layers {
			out = "y"
		}
		x = node(m, "Squeeze", out, []string{h, axis})
	}
	return m
}

// gates returns the values with the blocks of rows i, f, g, o put as i, o, f, g.
func gates(t peers.Tensor, hidden int) []byte {
	n := t.Len() / 4
	b := make([]byte, 0, t.Bytes())
	for _, g := range []int{0, 3, 1, 2} {
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(t.At(g*n+i))))
		}
	}
	return b
}
