package models

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// LSTM is a stack of recurrent layers of Hochreiter and Schmidhuber, 1997, that
// starts from zeros, with the names of torch.nn.LSTM.
type LSTM struct {
	Layers *nn.LSTM `fx:"."`
}

// NewLSTM returns so many layers of a width with zero weights.
func NewLSTM(width, layers int) *LSTM {
	return &LSTM{nn.NewLSTM(width, width, nn.NumLayers(layers), nn.NoInit())}
}

// Forward takes sequences x [T, N, width] to the results of the last layer
// [T, N, width] and the last states of all layers [layers, N, width].
func (m *LSTM) Forward(x *tensor.Tensor) (output, hN, cN *tensor.Tensor) {
	return m.Layers.Forward(x, nil, nil)
}

// LSTMCells is the arithmetic of LSTM as a loop over time and, in it, over cells.
//
// Forward is a loop in Go, so a trace is of one length.
type LSTMCells struct {
	Layers []*nn.LSTMCell
}

// NewLSTMCells returns so many cells of a width with zero weights.
func NewLSTMCells(width, layers int) *LSTMCells {
	m := &LSTMCells{}
	for range layers {
		m.Layers = append(m.Layers, nn.NewLSTMCell(width, width, nn.NoInit()))
	}
	return m
}

// Forward takes sequences x [T, N, width] to the results of the last cell at all steps
// [T, N, width] and its last states [N, width].
func (m *LSTMCells) Forward(x *tensor.Tensor) (output, hLast, cLast *tensor.Tensor) {
	h, c := make([]*tensor.Tensor, len(m.Layers)), make([]*tensor.Tensor, len(m.Layers))
	steps := make([]*tensor.Tensor, x.Dim(0)) //fxvet:ignore fxdata: every length has a graph of its own
	for t := range steps {
		y := x.Select(0, t)
		for i, cell := range m.Layers {
			h[i], c[i] = cell.Forward(y, h[i], c[i])
			y = h[i]
		}
		steps[t] = y
	}
	last := len(m.Layers) - 1
	return tensor.Stack(steps, 0), h[last], c[last]
}

// GRU is a stack of recurrent layers of Cho et al., arXiv:1406.1078, that reads a sequence
// in both directions from zeros, with the names of torch.nn.GRU.
type GRU struct {
	Layers *nn.GRU `fx:"."`
}

// NewGRU returns so many layers from width in to twice hidden with zero weights.
func NewGRU(in, hidden, layers int) *GRU {
	return &GRU{nn.NewGRU(in, hidden, nn.NumLayers(layers), nn.Bidirectional(), nn.BatchFirst(), nn.NoInit())}
}

// Forward takes sequences x [N, T, in] to the results of the last layer in both directions
// [N, T, 2*hidden] and the last states of all layers and directions [2*layers, N, hidden].
func (m *GRU) Forward(x *tensor.Tensor) (output, hN *tensor.Tensor) {
	return m.Layers.Forward(x, nil)
}

// AttnDecoder is a step of a translator that attends to what the encoder has made of a
// sentence: Bahdanau et al., arXiv:1409.0473, with the names of PyTorch's tutorial.
type AttnDecoder struct {
	Embedding         *nn.Embedding
	Attn, AttnCombine *nn.Linear
	Gru               *nn.GRU
	Out               *nn.Linear
}

// NewAttnDecoder returns a decoder of so many words and of sentences of so many places,
// with zero weights.
func NewAttnDecoder(words, width, places int) *AttnDecoder {
	return &AttnDecoder{
		Embedding:   nn.NewEmbedding(words, width, nn.NoInit()),
		Attn:        linear(2*width, places),
		AttnCombine: linear(2*width, width),
		Gru:         nn.NewGRU(width, width, nn.NoInit()),
		Out:         linear(width, words),
	}
}

// Forward takes a word [1, 1] (i64), the state before it [1, 1, width] and the encoder's
// results [places, width] to the logarithms of the next word's probabilities [1, words],
// the next state and the weights of the places [1, places].
func (m *AttnDecoder) Forward(token, hidden, encoderOutputs *tensor.Tensor) (logProbs, next, weights *tensor.Tensor) {
	e := m.Embedding.Forward(token).Select(0, 0)
	weights = m.Attn.Forward(tensor.Cat([]*tensor.Tensor{e, hidden.Select(0, 0)}, -1)).Softmax(-1)
	x := m.AttnCombine.Forward(tensor.Cat([]*tensor.Tensor{e, weights.Matmul(encoderOutputs)}, -1)).Relu()
	x, next = m.Gru.Forward(x.Unsqueeze(0), hidden)
	return m.Out.Forward(x.Select(0, 0)).LogSoftmax(-1), next, weights
}

// GreedyDecoder writes words, the likeliest one after the other, until all texts of the
// batch have ended. Which words are written decides how often its loop runs.
type GreedyDecoder struct {
	Gru       *GateCell // an LSTM under this name
	Out       *nn.Linear
	Embedding *nn.Embedding
	MaxWords  int // of a text
}

// NewGreedyDecoder returns a decoder of so many words, with zero weights.
func NewGreedyDecoder(words, width, maxWords int) *GreedyDecoder {
	return &GreedyDecoder{
		Gru:       newGateCell(width),
		Out:       linear(width, words),
		Embedding: nn.NewEmbedding(words, width, nn.NoInit()),
		MaxWords:  maxWords,
	}
}

// Forward takes what is added to the scores of each step, std [MaxWords, N, words], and the
// states h and c [N, width] to the words [MaxWords, N] (i64, 0 after the end), the last h
// and the scores of the last step [N, words].
func (m *GreedyDecoder) Forward(std, h, c *tensor.Tensor) (tokens, hLast, lastLogits *tensor.Tensor) {
	n := h.Size(0)
	places := tensor.Arange(m.MaxWords).Unsqueeze(1)
	more := func(in []*tensor.Tensor) *tensor.Tensor {
		return in[0].LtScalar(m.MaxWords).LogicalAnd(in[1].Amax().NeScalar(0))
	}
	write := func(in []*tensor.Tensor) []*tensor.Tensor {
		step, word, h, c, tokens := in[0], in[1], in[2], in[3], in[4]
		h, c = m.Gru.Forward(m.Embedding.Forward(word), h, c)
		logits := m.Out.Forward(h)
		word = logits.Add(std.IndexSelect(step.Unsqueeze(0), 0).Select(0, 0)).Argmax(-1)
		tokens = tensor.Where(places.Eq(step), word.Unsqueeze(0), tokens)
		return []*tensor.Tensor{step.AddScalar(1), word, h, c, tokens, logits}
	}
	none := tensor.ZerosWith([]any{m.MaxWords, n}, tensor.SizeAttrs{DType: array.I64})
	start := tensor.OnesWith([]any{n}, tensor.SizeAttrs{DType: array.I64})
	out := tensor.While(more, write, tensor.Scalar(int64(0)), start, h, c, none, std.Select(0, 0).ZerosLike())
	return out[4], out[2], out[5]
}

// GateCell is an LSTM cell whose gates, input, forget, cell and output, have weights of
// their own that multiply from the right.
type GateCell struct {
	WeightIhL0T *tensor.Tensor `fx:"weight_ih_l0_t"` // [4, in, out]
	WeightHhL0T *tensor.Tensor `fx:"weight_hh_l0_t"`
	BiasIh0     *tensor.Tensor `fx:"bias_ih_0"`
	BiasHh0     *tensor.Tensor `fx:"bias_hh_0"`
	BiasIh1     *tensor.Tensor `fx:"bias_ih_1"`
	BiasHh1     *tensor.Tensor `fx:"bias_hh_1"`
	BiasIh2     *tensor.Tensor `fx:"bias_ih_2"`
	BiasHh2     *tensor.Tensor `fx:"bias_hh_2"`
	BiasIh3     *tensor.Tensor `fx:"bias_ih_3"`
	BiasHh3     *tensor.Tensor `fx:"bias_hh_3"`
}

func newGateCell(width int) *GateCell {
	weight := func() *tensor.Tensor { return tensor.StateParam(array.New(array.F32, 4, width, width)) }
	bias := func() *tensor.Tensor { return tensor.StateParam(array.New(array.F32, width)) }
	return &GateCell{weight(), weight(), bias(), bias(), bias(), bias(), bias(), bias(), bias(), bias()}
}

// Forward takes x [N, width] and the states h and c to the next states.
func (m *GateCell) Forward(x, h, c *tensor.Tensor) (hNext, cNext *tensor.Tensor) {
	gate := func(g int, biasIh, biasHh *tensor.Tensor) *tensor.Tensor {
		return x.Matmul(m.WeightIhL0T.Select(0, g)).Add(biasIh).Add(h.Matmul(m.WeightHhL0T.Select(0, g)).Add(biasHh))
	}
	input, forget := gate(0, m.BiasIh0, m.BiasHh0).Sigmoid(), gate(1, m.BiasIh1, m.BiasHh1).Sigmoid()
	cell, output := gate(2, m.BiasIh2, m.BiasHh2).Tanh(), gate(3, m.BiasIh3, m.BiasHh3).Sigmoid()
	cNext = forget.Mul(c).Add(input.Mul(cell))
	return output.Mul(cNext.Tanh()), cNext
}
