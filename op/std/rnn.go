package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// LstmAttrs are the attributes of lstm and gru. NumLayers 0 means 1. Operand
// weights has for each layer and, if Bidirectional, each direction w_ih, w_hh
// and, unless NoBias, b_ih and b_hh.
type LstmAttrs struct {
	NumLayers     int
	Bidirectional bool
	BatchFirst    bool
	NoBias        bool
}

// GruAttrs are the attributes of gru.
type GruAttrs = LstmAttrs

// RnnAttrs are the attributes of rnn; an empty Nonlinearity is tanh, others as
// in LstmAttrs.
type RnnAttrs struct {
	Nonlinearity  string `fx:",enum=tanh|relu"`
	NumLayers     int
	Bidirectional bool
	BatchFirst    bool
	NoBias        bool
}

// Lstm is what torch.nn.LSTM computes, without projections and dropout. x is
// [T,N,I], or [N,T,I] with BatchFirst, or [T,I]; absent initial states are zero.
//
//	%y = call_function[lstm](%x, %h0, %c0, %w_ih, %w_hh, %b_ih, %b_hh) : (f32[T,N,H], f32[1,N,H], f32[1,N,H])
//
//gofx:torch recurrent(torch._VF.lstm, x, [h0, c0], weights, num_layers, bidirectional, batch_first, no_bias)
var Lstm = op.Define("lstm", op.Spec[LstmAttrs]{
	Differs: []op.Difference[LstmAttrs]{
		refusesMixed[LstmAttrs](),
		refusesStretched[LstmAttrs](4, 2),
		extendsEmpty[LstmAttrs](),
		refusesIntegers[LstmAttrs](),
	},
	Doc: "lstm runs layers of long short-term memory over a sequence; gates are in the order input, forget, cell, output.",
	Ref: "Hochreiter and Schmidhuber, Long Short-Term Memory, 1997",
	In:  op.Args("x", "h0?", "c0?", "weights..."), Class: op.Contraction, Quant: op.QuantWeighted,
	Results: []string{"output", "h_n", "c_n"},
	Infer: func(c *op.Infer, a LstmAttrs, in []shape.Type) (shape.Type, error) {
		return a.recurrent(4, 2).infer(c, in)
	},
	Kernel: func(a LstmAttrs, _ []shape.Type) kernel.Step {
		return &kernel.LSTM{Layers: max(a.NumLayers, 1), Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst, HasBias: !a.NoBias}
	},
	Flops: func(a LstmAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		return a.recurrent(4, 2).flops(in)
	},
	Samples: lstmSamples,
	Bad:     lstmBad,
})

// Gru is what torch.nn.GRU computes, without dropout; operands as of lstm.
//
//gofx:torch recurrent(torch._VF.gru, x, [h0], weights, num_layers, bidirectional, batch_first, no_bias)
var Gru = op.Define("gru", op.Spec[GruAttrs]{
	Differs: []op.Difference[GruAttrs]{
		refusesMixed[GruAttrs](),
		refusesStretched[GruAttrs](3, 1),
		altersClosed[GruAttrs](),
		extendsEmpty[GruAttrs](),
		refusesIntegers[GruAttrs](),
	},
	Doc: "gru runs layers of gated recurrent units over a sequence; gates are in the order reset, update, new.",
	Ref: "Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014, arXiv:1406.1078",
	In:  op.Args("x", "h0?", "weights..."), Class: op.Contraction, Quant: op.QuantWeighted,
	Results: []string{"output", "h_n"},
	Infer: func(c *op.Infer, a GruAttrs, in []shape.Type) (shape.Type, error) {
		return a.recurrent(3, 1).infer(c, in)
	},
	Kernel: func(a GruAttrs, _ []shape.Type) kernel.Step {
		return &kernel.GRU{Layers: max(a.NumLayers, 1), Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst, HasBias: !a.NoBias}
	},
	Flops:   func(a GruAttrs, in []shape.Type, _ shape.Type) shape.Dim { return a.recurrent(3, 1).flops(in) },
	Samples: gruSamples,
	Bad:     gruBad,
})

// Rnn is what torch.nn.RNN computes, without dropout; operands as of gru.
//
//gofx:torch recurrent(tanh_or_relu(nonlinearity, torch._VF.rnn_tanh, torch._VF.rnn_relu), x, [h0], weights, num_layers, bidirectional, batch_first, no_bias)
var Rnn = op.Define("rnn", op.Spec[RnnAttrs]{
	Differs: []op.Difference[RnnAttrs]{
		refusesMixed[RnnAttrs](),
		refusesStretched[RnnAttrs](1, 1),
		extendsEmpty[RnnAttrs](),
		refusesIntegers[RnnAttrs](),
	},
	Doc: "rnn runs layers of h' = f(w_ih·x + b_ih + w_hh·h + b_hh) over a sequence.",
	Ref: "Elman, Finding Structure in Time, 1990",
	In:  op.Args("x", "h0?", "weights..."), Class: op.Contraction, Quant: op.QuantWeighted,
	Results: []string{"output", "h_n"},
	Infer: func(c *op.Infer, a RnnAttrs, in []shape.Type) (shape.Type, error) {
		switch a.Nonlinearity {
		case "", "tanh", "relu":
			return a.recurrent().infer(c, in)
		}
		return shape.Type{}, badAttr("nonlinearity", strconv.Quote(a.Nonlinearity), "tanh or relu")
	},
	Kernel: func(a RnnAttrs, _ []shape.Type) kernel.Step {
		if a.Nonlinearity == "" {
			a.Nonlinearity = "tanh"
		}
		return &kernel.RNN{Layers: max(a.NumLayers, 1), Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst,
			HasBias: !a.NoBias, Nonlinearity: a.Nonlinearity}
	},
	Flops:   func(a RnnAttrs, in []shape.Type, _ shape.Type) shape.Dim { return a.recurrent().flops(in) },
	Samples: rnnSamples,
	Bad:     rnnBad,
})

// recurrentAttrs is what the recurrent networks share: gates a unit, states.
type recurrentAttrs struct {
	layers                    int
	bidirectional, batchFirst bool
	noBias                    bool
	gates, states             int
}

func (a LstmAttrs) recurrent(gates, states int) recurrentAttrs {
	return recurrentAttrs{a.NumLayers, a.Bidirectional, a.BatchFirst, a.NoBias, gates, states}
}

func (a RnnAttrs) recurrent() recurrentAttrs {
	return recurrentAttrs{a.NumLayers, a.Bidirectional, a.BatchFirst, a.NoBias, 1, 1}
}

func (r recurrentAttrs) lstm() LstmAttrs {
	return LstmAttrs{NumLayers: r.layers, Bidirectional: r.bidirectional, BatchFirst: r.batchFirst, NoBias: r.noBias}
}

func (r recurrentAttrs) rnn(f string) RnnAttrs {
	return RnnAttrs{Nonlinearity: f, NumLayers: r.layers, Bidirectional: r.bidirectional, BatchFirst: r.batchFirst, NoBias: r.noBias}
}

func (r recurrentAttrs) directions() int {
	if r.bidirectional {
		return 2
	}
	return 1
}

// perDirection is the number of weights of a layer in one direction.
func (r recurrentAttrs) perDirection() int {
	if r.noBias {
		return 2
	}
	return 4
}

// maxLayers bounds the number of layers, so that their weights can be counted.
const maxLayers = 1 << 20

func (r recurrentAttrs) infer(c *op.Infer, in []shape.Type) (shape.Type, error) {
	if r.layers < 0 || r.layers > maxLayers {
		return shape.Type{}, badAttr("num_layers", strconv.Itoa(r.layers), "1 or more")
	}
	r.layers = max(r.layers, 1)
	x, first := in[0], 1+r.states
	want := r.layers * r.directions() * r.perDirection()
	if n := max(len(in)-first, 0); n != want {
		return shape.Type{}, diag.New(op.OperandCount, strconv.Itoa(n)+" weights, expected "+strconv.Itoa(want)).
			WithHint("every layer and direction has w_ih, w_hh and, unless no_bias is set, b_ih and b_hh")
	}
	d, err := sameFloat(r.names(in), in)
	if err != nil {
		return shape.Type{}, err
	}
	if err := wantRank("x", x, 2, 3); err != nil {
		return shape.Type{}, err
	}
	hidden, err := r.checkWeights(c, x, in[first:])
	if err != nil {
		return shape.Type{}, err
	}
	state, err := r.checkStates(c, x, hidden, in[1:first])
	if err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		members := []shape.Type{shape.Unranked(d)}
		for range r.states {
			members = append(members, shape.Unranked(d))
		}
		return shape.TupleType(members...), nil
	}
	members := []shape.Type{shape.TensorType(d, x.Dims().With(-1, hidden.MulInt(r.directions())))}
	for range r.states {
		members = append(members, shape.TensorType(d, state))
	}
	return shape.TupleType(members...), nil
}

func (r recurrentAttrs) names(in []shape.Type) []string {
	names := append([]string{"x"}, []string{"h0", "c0"}[:r.states]...)
	for i := range len(in) - len(names) {
		names = append(names, r.weightName(i))
	}
	return names
}

// weightName names weight i as torch.nn does: weight_ih_l0, bias_hh_l1_reverse.
func (r recurrentAttrs) weightName(i int) string {
	kind := []string{"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"}[i%r.perDirection()]
	at := i / r.perDirection()
	name := kind + strconv.Itoa(at/r.directions())
	if at%r.directions() == 1 {
		name += "_reverse"
	}
	return name
}

// checkWeights checks the sizes of the weights and returns the hidden size.
func (r recurrentAttrs) checkWeights(c *op.Infer, x shape.Type, w []shape.Type) (shape.Dim, error) {
	hidden := shape.Unknown
	for i := 1; i < len(w) && hidden.IsUnknown(); i += r.perDirection() {
		hidden = w[i].Dim(1)
	}
	rows := hidden.MulInt(r.gates)
	for i, t := range w {
		name := r.weightName(i)
		want := []shape.Dim{rows}
		switch i % r.perDirection() {
		case 0:
			features := x.Dim(-1)
			if i/r.perDirection() >= r.directions() {
				features = hidden.MulInt(r.directions())
			}
			want = append(want, features)
		case 1:
			want = append(want, hidden)
		}
		if err := wantRank(name, t, len(want), len(want)); err != nil {
			return hidden, err
		}
		for k, n := range want {
			if _, err := c.Equal(t.Dim(k), n, op.SizeMismatch, func() string {
				return name + " has the shape " + t.Dims().String() + ", expected " + shape.Of(want...).String()
			}); err != nil {
				return hidden, err
			}
		}
	}
	return hidden, nil
}

// checkStates checks the initial states and returns the shape of the final ones.
func (r recurrentAttrs) checkStates(c *op.Infer, x shape.Type, hidden shape.Dim, states []shape.Type) (shape.Dims, error) {
	want := shape.Of(shape.Const(r.layers * r.directions()))
	if x.Rank() == 3 {
		batch := x.Dim(1)
		if r.batchFirst {
			batch = x.Dim(0)
		}
		want = want.Append(batch)
	}
	want = want.Append(hidden)
	for i, t := range states {
		name := []string{"h0", "c0"}[i]
		if !t.Ranked() || !x.Ranked() {
			continue
		}
		if err := wantRank(name, t, want.Len(), want.Len()); err != nil {
			return want, err
		}
		for k := range want.Len() {
			d, err := c.Equal(want.At(k), t.Dim(k), op.SizeMismatch, func() string {
				return name + " has the shape " + t.Dims().String() + ", expected " + want.String()
			})
			if err != nil {
				return want, err
			}
			want = want.With(k, d)
		}
	}
	return want, nil
}

func (r recurrentAttrs) flops(in []shape.Type) shape.Dim {
	x := in[0]
	if !x.Ranked() || x.Rank() < 2 {
		return shape.Unknown
	}
	n := shape.Const(0)
	for _, w := range in[1+r.states:] {
		if w.Rank() > 1 || !w.Ranked() {
			n = n.Add(elementCount(w))
		}
	}
	return twiceProduct(n, x.Dims().Sub(0, x.Rank()-1).Slice()...)
}

// recurrentArgs makes operands for x of the given shape, without states.
func recurrentArgs(g *op.Gen, r recurrentAttrs, hidden int, x ...int) []*array.Array {
	in := append([]*array.Array{g.Normal(x...)}, make([]*array.Array, r.states)...)
	for layer := range max(r.layers, 1) {
		features := x[len(x)-1]
		if layer > 0 {
			features = hidden * r.directions()
		}
		for range r.directions() {
			in = append(in, g.Uniform(-0.5, 0.5, r.gates*hidden, features), g.Uniform(-0.5, 0.5, r.gates*hidden, hidden))
			if !r.noBias {
				in = append(in, g.Uniform(-0.5, 0.5, r.gates*hidden), g.Uniform(-0.5, 0.5, r.gates*hidden))
			}
		}
	}
	return in
}
