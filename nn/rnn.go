package nn

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// RNNWeights are the weights of LSTM, GRU and RNN, whose number and names follow
// from the settings: for each layer and, if there are two, each direction
// weight_ih [G*H, I], weight_hh [G*H, H] and, where there are biases, bias_ih and
// bias_hh [G*H], G being the number of gates.
type RNNWeights struct {
	Names   []string
	Tensors []*tensor.Tensor
}

// Walk implements tensor.Walker.
func (w *RNNWeights) Walk(visit func(tensor.Item) bool) {
	for i, x := range w.Tensors {
		visit(tensor.Item{Path: w.Names[i], Selector: ".Tensors[" + strconv.Itoa(i) + "]", Tensor: x})
	}
}

func (w *RNNWeights) add(name string, x *tensor.Tensor) {
	w.Names, w.Tensors = append(w.Names, name), append(w.Tensors, x)
}

// RNNBase is what LSTM, GRU and RNN share.
type RNNBase struct {
	leaf
	InputSize, HiddenSize, NumLayers  int
	Bidirectional, BatchFirst, NoBias bool
	Weights                           RNNWeights `fx:"."`
	// Between drops parts of what passes from one layer to the next in training;
	// nil without dropout.
	Between *Dropout
}

// NumLayers sets the number of layers; the default is 1.
func NumLayers(n int) RNNOption { return rnnOption(func(s *settings) { s.layers = n }) }

// Bidirectional adds a second direction, from the end of the sequence.
func Bidirectional() RNNOption { return rnnOption(func(s *settings) { s.bidirectional = true }) }

// BatchFirst makes sequences [N, T, ...] instead of [T, N, ...].
func BatchFirst() SequenceOption {
	return sequenceOption(func(s *settings) { s.batchFirst = true })
}

// Nonlinearity sets the function of a plain RNN: "tanh" (the default) or "relu".
func Nonlinearity(name string) RNNOption {
	return rnnOption(func(s *settings) { s.nonlinearity = name })
}

// DropoutBetween drops with probability p in training: outputs of all layers except
// the last in recurrent networks, attention weights in MultiheadAttention, and what
// PyTorch's dropout drops in transformers. The seed makes it repeatable.
func DropoutBetween(p float64, seed uint64) SequenceOption {
	return sequenceOption(func(s *settings) { s.dropout, s.dropoutSeed = p, seed })
}

func (b *RNNBase) build(name string, gates, in, hidden int, opts []RNNOption) settings {
	s := settings{bias: true, layers: 1}
	for _, o := range opts {
		o.rnn(&s)
	}
	if in < 1 || hidden < 1 || s.layers < 1 {
		refuse(name, "input size "+strconv.Itoa(in)+", hidden size "+strconv.Itoa(hidden)+" and "+strconv.Itoa(s.layers)+" layers, expected at least 1 of each", "")
	}
	b.InputSize, b.HiddenSize, b.NumLayers = in, hidden, s.layers
	b.Bidirectional, b.BatchFirst, b.NoBias = s.bidirectional, s.batchFirst, !s.bias
	for layer := range s.layers {
		for d := range b.directions() {
			suffix := "_l" + strconv.Itoa(layer)
			if d == 1 {
				suffix += "_reverse"
			}
			b.Weights.add("weight_ih"+suffix, zeros(gates*hidden, in))
			b.Weights.add("weight_hh"+suffix, zeros(gates*hidden, hidden))
			if s.bias {
				b.Weights.add("bias_ih"+suffix, zeros(gates*hidden))
				b.Weights.add("bias_hh"+suffix, zeros(gates*hidden))
			}
		}
		in = hidden * b.directions()
	}
	if s.dropout > 0 {
		b.Between = NewDropout(s.dropout, DropoutSeed(s.dropoutSeed))
	}
	start(b, &s)
	return s
}

func (b *RNNBase) directions() int {
	if b.Bidirectional {
		return 2
	}
	return 1
}

// SetTraining switches the dropout between layers.
func (b *RNNBase) SetTraining(on bool) {
	if b.Between != nil {
		b.Between.SetTraining(on)
	}
}

// ResetParameters draws all weights uniformly within 1/sqrt(HiddenSize).
func (b *RNNBase) ResetParameters(s *Source) {
	k := 1 / math.Sqrt(float64(max(b.HiddenSize, 1)))
	for _, w := range b.Weights.Tensors {
		s.Uniform(w, -k, k)
	}
}

func (b *RNNBase) attrs(layers int) tensor.LstmAttrs {
	a := tensor.LstmAttrs{Bidirectional: b.Bidirectional, BatchFirst: b.BatchFirst, NoBias: b.NoBias}
	if layers > 1 {
		a.NumLayers = layers
	}
	return a
}

// run calls the operator once, as a leaf; with dropout in training it calls it
// once for each layer and drops in between.
func (b *RNNBase) run(m any, o *op.Op, attrs func(layers int) any, x *tensor.Tensor, states ...*tensor.Tensor) []*tensor.Tensor {
	if b.Between == nil || !b.Between.Training || b.NumLayers < 2 {
		return tensor.Leaf(m, &tensor.Bound{Op: o, Attrs: attrs(b.NumLayers), Names: b.Weights.Names, Params: b.Weights.Tensors, Inputs: 1 + len(states)},
			append([]*tensor.Tensor{x}, states...)...)
	}
	weights := b.Weights.Tensors
	per, dirs := len(weights)/b.NumLayers, b.directions()
	last := make([][]*tensor.Tensor, len(states))
	for layer := range b.NumLayers {
		if layer > 0 {
			x = b.Between.Forward(x)
		}
		args := []*tensor.Tensor{x}
		for _, s := range states {
			if s != nil {
				s = s.Narrow(0, layer*dirs, dirs)
			}
			args = append(args, s)
		}
		out := tensor.Apply(o, attrs(1), append(args, weights[layer*per:(layer+1)*per]...)...)
		x = out[0]
		for i := range states {
			last[i] = append(last[i], out[1+i])
		}
	}
	out := []*tensor.Tensor{x}
	for _, l := range last {
		out = append(out, tensor.Cat(l, 0))
	}
	return out
}

// LSTM is torch.nn.LSTM without projections; Hochreiter, Schmidhuber, 1997.
// Gates are in the order input, forget, cell, output.
type LSTM struct{ RNNBase }

// NewLSTM returns an LSTM from width in to width hidden.
func NewLSTM(in, hidden int, opts ...RNNOption) *LSTM {
	m := &LSTM{}
	m.build("lstm", 4, in, hidden, opts)
	return m
}

// Forward runs over x [T, N, I] ([N, T, I] with BatchFirst, or [T, I]) from the
// states h0 and c0 [layers*directions, N, H], which may be nil for zeros. It
// returns the outputs of the last layer [T, N, directions*H] and the last states.
func (m *LSTM) Forward(x, h0, c0 *tensor.Tensor) (output, hN, cN *tensor.Tensor) {
	out := m.run(m, std.Lstm, func(n int) any { return m.attrs(n) }, x, h0, c0)
	return out[0], out[1], out[2]
}

// GRU is torch.nn.GRU; Cho et al., arXiv:1406.1078. Gates are in the order reset,
// update, new.
type GRU struct{ RNNBase }

// NewGRU returns a GRU from width in to width hidden.
func NewGRU(in, hidden int, opts ...RNNOption) *GRU {
	m := &GRU{}
	m.build("gru", 3, in, hidden, opts)
	return m
}

// Forward runs over x from the state h0, which may be nil; see LSTM.
func (m *GRU) Forward(x, h0 *tensor.Tensor) (output, hN *tensor.Tensor) {
	out := m.run(m, std.Gru, func(n int) any { return m.attrs(n) }, x, h0)
	return out[0], out[1]
}

// RNN is torch.nn.RNN: h' = f(W_ih x + b_ih + W_hh h + b_hh); Elman, 1990.
type RNN struct {
	RNNBase
	Nonlinearity string // "" and "tanh", or "relu"
}

// NewRNN returns an RNN from width in to width hidden.
func NewRNN(in, hidden int, opts ...RNNOption) *RNN {
	m := &RNN{}
	s := m.build("rnn", 1, in, hidden, opts)
	m.Nonlinearity = s.nonlinearity
	return m
}

// Forward runs over x from the state h0, which may be nil; see LSTM.
func (m *RNN) Forward(x, h0 *tensor.Tensor) (output, hN *tensor.Tensor) {
	out := m.run(m, std.Rnn, func(n int) any {
		a := m.attrs(n)
		return tensor.RnnAttrs{Nonlinearity: plainTanh(m.Nonlinearity), NumLayers: a.NumLayers, Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst, NoBias: a.NoBias}
	}, x, h0)
	return out[0], out[1]
}

// plainTanh leaves out the default.
func plainTanh(name string) string {
	if name == "tanh" {
		return ""
	}
	return name
}

// CellBase is what LSTMCell, GRUCell and RNNCell share.
type CellBase struct {
	leaf
	InputSize, HiddenSize int
	WeightIh, WeightHh    *tensor.Tensor // [G*H, I] and [G*H, H] for G gates
	BiasIh, BiasHh        *tensor.Tensor // [G*H] or nil
}

func (b *CellBase) build(name string, gates, in, hidden int, opts []RNNOption) settings {
	s := settings{bias: true}
	for _, o := range opts {
		o.rnn(&s)
	}
	if in < 1 || hidden < 1 {
		refuse(name, "input size "+strconv.Itoa(in)+" and hidden size "+strconv.Itoa(hidden)+", expected at least 1 of each", "")
	}
	b.InputSize, b.HiddenSize = in, hidden
	b.WeightIh, b.WeightHh = zeros(gates*hidden, in), zeros(gates*hidden, hidden)
	if s.bias {
		b.BiasIh, b.BiasHh = zeros(gates*hidden), zeros(gates*hidden)
	}
	start(b, &s)
	return s
}

// ResetParameters draws all weights uniformly within 1/sqrt(HiddenSize).
func (b *CellBase) ResetParameters(s *Source) {
	k := 1 / math.Sqrt(float64(max(b.HiddenSize, 1)))
	for _, w := range []*tensor.Tensor{b.WeightIh, b.WeightHh, b.BiasIh, b.BiasHh} {
		if w != nil {
			s.Uniform(w, -k, k)
		}
	}
}

var cellNames = []string{"weight_ih", "weight_hh", "bias_ih", "bias_hh"}

// run calls the leaf with zeros for absent states.
func (b *CellBase) run(m any, o *op.Op, attrs any, x *tensor.Tensor, states ...*tensor.Tensor) []*tensor.Tensor {
	args := []*tensor.Tensor{x}
	for _, s := range states {
		if s == nil {
			size := []any{b.HiddenSize}
			if x.Rank() == 2 {
				size = []any{x.Size(0), b.HiddenSize}
			}
			s = tensor.ZerosWith(size, tensor.SizeAttrs{DType: b.WeightHh.DType()})
		}
		args = append(args, s)
	}
	return tensor.Leaf(m, &tensor.Bound{Op: o, Attrs: attrs, Names: cellNames,
		Params: []*tensor.Tensor{b.WeightIh, b.WeightHh, b.BiasIh, b.BiasHh}, Inputs: len(args)}, args...)
}

// LSTMCell is torch.nn.LSTMCell, one step of an LSTM.
type LSTMCell struct{ CellBase }

// NewLSTMCell returns a cell from width in to width hidden.
func NewLSTMCell(in, hidden int, opts ...RNNOption) *LSTMCell {
	m := &LSTMCell{}
	m.build("lstm_cell", 4, in, hidden, opts)
	return m
}

// Forward takes x [N, I] or [I] and the states h and c [N, H] or [H], which may
// be nil for zeros, to the next states.
func (m *LSTMCell) Forward(x, h, c *tensor.Tensor) (hNext, cNext *tensor.Tensor) {
	out := m.run(m, std.LstmCell, op.None{}, x, h, c)
	return out[0], out[1]
}

// GRUCell is torch.nn.GRUCell, one step of a GRU.
type GRUCell struct{ CellBase }

// NewGRUCell returns a cell from width in to width hidden.
func NewGRUCell(in, hidden int, opts ...RNNOption) *GRUCell {
	m := &GRUCell{}
	m.build("gru_cell", 3, in, hidden, opts)
	return m
}

// Forward takes x [N, I] or [I] and the state h, which may be nil, to the next state.
func (m *GRUCell) Forward(x, h *tensor.Tensor) *tensor.Tensor {
	return m.run(m, std.GruCell, op.None{}, x, h)[0]
}

// RNNCell is torch.nn.RNNCell, one step of an RNN.
type RNNCell struct {
	CellBase
	Nonlinearity string // "" and "tanh", or "relu"
}

// NewRNNCell returns a cell from width in to width hidden.
func NewRNNCell(in, hidden int, opts ...RNNOption) *RNNCell {
	m := &RNNCell{}
	s := m.build("rnn_cell", 1, in, hidden, opts)
	m.Nonlinearity = s.nonlinearity
	return m
}

// Forward takes x [N, I] or [I] and the state h, which may be nil, to the next state.
func (m *RNNCell) Forward(x, h *tensor.Tensor) *tensor.Tensor {
	return m.run(m, std.RnnCell, tensor.RnnCellAttrs{Nonlinearity: plainTanh(m.Nonlinearity)}, x, h)[0]
}
