package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/onnxpb"
	"github.com/gofx-dev/gofx/bench/peers"
)

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
