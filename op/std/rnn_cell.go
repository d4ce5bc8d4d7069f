package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// RnnCellAttrs are the attributes of rnn_cell; an empty Nonlinearity is tanh.
type RnnCellAttrs struct {
	Nonlinearity string `fx:",enum=tanh|relu"`
}

// LstmGates is the elementwise part of an LSTM cell, of several results. The gates
// of an f16 or bf16 state may be f32.
//
//gofx:torch gated(i, f, g, o, c)
var LstmGates = op.Define("lstm_gates", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
		refusesIntegers[op.None](),
		unlikeFar[op.None](0, 1, 2, 3, 4),
	},
	Doc:     "lstm_gates returns the states h' = sigmoid(o)·tanh(c') and c' = sigmoid(f)·c + sigmoid(i)·tanh(g) of an LSTM cell.",
	In:      op.Args("i", "f", "g", "o", "c"),
	Results: []string{"h", "c"}, Promote: uncast[op.None],
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		d, err := sameFloat([]string{"i", "f", "g", "o"}, in[:4])
		if state := in[4].DType(); err == nil && (d != array.F32 || state.Size() != 2) {
			_, err = sameFloat([]string{"o", "c"}, in[3:])
		}
		if err == nil {
			d, err = sameFloat([]string{"c"}, in[4:])
		}
		if err != nil {
			return shape.Type{}, err
		}
		dims, ranked, err := c.BroadcastAll(in)
		for _, t := range in {
			ranked = ranked && t.Ranked()
		}
		t := typeOf(d, ranked, dims.Slice()...)
		return shape.TupleType(t, t), err
	},
	Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
		d := x[4].DType()
		for i := range x {
			x[i] = b.Widen(x[i])
		}
		c := b.Add(b.Mul(b.Sigmoid(x[1]), x[4]), b.Mul(b.Sigmoid(x[0]), b.Tanh(x[2])))
		return []expr.Value{b.Cast(b.Mul(b.Sigmoid(x[3]), b.Tanh(c)), d), b.Cast(c, d)}
	},
	Flops:   func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim { return elementCount(in[0]).MulInt(9) },
	Samples: lstmGatesSamples,
	Bad:     lstmGatesBad,
})

// LstmCell is one step of lstm, as torch.nn.LSTMCell.
//
//gofx:torch cell(torch.lstm_cell, x, [h, c], weight_ih, weight_hh, bias_ih, bias_hh)
var LstmCell = op.Define("lstm_cell", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
		refusesStretched[op.None](4, 2),
		refusesIntegers[op.None](),
	},
	Doc: "lstm_cell is one step of an LSTM for x [N,I] or [I] and states [N,H] or [H].",
	In:  op.Args("x", "h", "c", "weight_ih", "weight_hh", "bias_ih?", "bias_hh?"), Class: op.Contraction,
	Results: []string{"h", "c"},
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		t, err := inferCell(c, 4, []string{"h", "c"}, in)
		return shape.TupleType(t, t), err
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		c := composer{b}
		gates := c.add(c.gates(in, 0, 3, 5), c.gates(in, 1, 4, 6))
		return b.Call(LstmGates, op.None{}, c.gate(gates, 4, 0), c.gate(gates, 4, 1), c.gate(gates, 4, 2), c.gate(gates, 4, 3), in[2])
	},
	Flops:   func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim { return cellFlops(in[0], in[3], in[4]) },
	Samples: lstmCellSamples,
	Bad:     lstmCellBad,
})

// GruCell is one step of gru, as torch.nn.GRUCell.
//
//gofx:torch cell(torch.gru_cell, x, [h], weight_ih, weight_hh, bias_ih, bias_hh)
var GruCell = op.Define("gru_cell", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
		refusesStretched[op.None](3, 1),
		altersClosed[op.None](),
		refusesIntegers[op.None](),
	},
	Doc: "gru_cell is one step of a GRU for x [N,I] or [I] and a state [N,H] or [H].",
	In:  op.Args("x", "h", "weight_ih", "weight_hh", "bias_ih?", "bias_hh?"), Class: op.Contraction,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		return inferCell(c, 3, []string{"h"}, in)
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		c := composer{b}
		x, h := c.gates(in, 0, 2, 4), c.gates(in, 1, 3, 5)
		reset := c.apply(Sigmoid, c.add(c.gate(x, 3, 0), c.gate(h, 3, 0)))
		update := c.apply(Sigmoid, c.add(c.gate(x, 3, 1), c.gate(h, 3, 1)))
		fresh := c.apply(Tanh, c.add(c.gate(x, 3, 2), c.mul(reset, c.gate(h, 3, 2))))
		return c.as(in[1], c.add(fresh, c.mul(update, c.sub(in[1], fresh))))
	},
	Flops:   func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim { return cellFlops(in[0], in[2], in[3]) },
	Samples: gruCellSamples,
	Bad:     gruCellBad,
})

// RnnCell is one step of rnn, as torch.nn.RNNCell.
//
//gofx:torch cell(tanh_or_relu(nonlinearity, torch.rnn_tanh_cell, torch.rnn_relu_cell), x, [h], weight_ih, weight_hh, bias_ih, bias_hh)
var RnnCell = op.Define("rnn_cell", op.Spec[RnnCellAttrs]{
	Differs: []op.Difference[RnnCellAttrs]{
		refusesMixed[RnnCellAttrs](),
		refusesStretched[RnnCellAttrs](1, 1),
		refusesIntegers[RnnCellAttrs](),
	},
	Doc: "rnn_cell is one step of a plain recurrent network for x [N,I] or [I] and a state [N,H] or [H].",
	In:  op.Args("x", "h", "weight_ih", "weight_hh", "bias_ih?", "bias_hh?"), Class: op.Contraction,
	Infer: func(c *op.Infer, a RnnCellAttrs, in []shape.Type) (shape.Type, error) {
		switch a.Nonlinearity {
		case "", "tanh", "relu":
			return inferCell(c, 1, []string{"h"}, in)
		}
		return shape.Type{}, badAttr("nonlinearity", strconv.Quote(a.Nonlinearity), "tanh or relu")
	},
	Decompose: func(b op.Builder, a RnnCellAttrs, in []op.Value) op.Value {
		c := composer{b}
		f := Tanh
		if a.Nonlinearity == "relu" {
			f = Relu
		}
		return c.as(in[1], c.apply(f, c.add(c.gates(in, 0, 2, 4), c.gates(in, 1, 3, 5))))
	},
	Flops:   func(_ RnnCellAttrs, in []shape.Type, _ shape.Type) shape.Dim { return cellFlops(in[0], in[2], in[3]) },
	Samples: rnnCellSamples,
	Bad:     rnnCellBad,
})

// gates returns the linear part that operand x gives, from operands by number. That
// of f16 and bf16 is f32, so that a step rounds its states alone.
func (c composer) gates(in []op.Value, x, weight, bias int) op.Value {
	wide := func(v op.Value) op.Value {
		if v != nil {
			v, _ = widened(c, v)
		}
		return v
	}
	return c.Call(Linear, op.None{}, wide(in[x]), wide(in[weight]), wide(valueAt(in, bias)))
}

// as returns y in the element type of x.
func (c composer) as(x, y op.Value) op.Value {
	d := x.Type().DType()
	if y.Type().DType() == d {
		return y
	}
	return c.Call(Cast, CastAttrs{DType: d}, y)
}

// gate returns part i of n equal ones of the last dimension.
func (c composer) gate(x op.Value, n, i int) op.Value {
	size := x.Type().Dim(-1).FloorDivInt(n)
	return c.Call(Slice, SliceAttrs{Dim: -1, Start: size.MulInt(i), Stop: size.MulInt(i + 1)}, x)
}

// inferCell is the type rule of a cell with the given number of gates and states.
func inferCell(c *op.Infer, gates int, states []string, in []shape.Type) (shape.Type, error) {
	w := 1 + len(states)
	names := append(append([]string{"x"}, states...), "weight_ih", "weight_hh", "bias_ih", "bias_hh")
	d, err := sameFloat(names, in)
	if err != nil {
		return shape.Type{}, err
	}
	x, hidden := in[0], in[w+1].Dim(1)
	if err := wantRank("x", x, 1, 2); err != nil {
		return shape.Type{}, err
	}
	rows := hidden.MulInt(gates)
	sizes := [][]shape.Dim{{rows, x.Dim(-1)}, {rows, hidden}, {rows}, {rows}}
	for i, want := range sizes {
		if err := wantShape(c, names[w+i], operandAt(in, w+i), want); err != nil {
			return shape.Type{}, err
		}
	}
	if !x.Ranked() {
		return shape.Unranked(d), nil
	}
	dims := x.Dims().With(-1, hidden)
	for i, name := range states {
		if err := wantShape(c, name, in[1+i], dims.Slice()); err != nil {
			return shape.Type{}, err
		}
		for k := range dims.Len() {
			if dims.At(k).IsUnknown() {
				dims = dims.With(k, in[1+i].Dim(k))
			}
		}
	}
	return shape.TensorType(d, dims), nil
}

// wantShape requires a tensor to have the given sizes where they are known.
func wantShape(c *op.Infer, name string, t shape.Type, want []shape.Dim) error {
	if !t.Ranked() {
		return nil
	}
	if err := wantRank(name, t, len(want), len(want)); err != nil {
		return err
	}
	for k, n := range want {
		if _, err := c.Equal(t.Dim(k), n, op.SizeMismatch, func() string {
			return name + " has the shape " + t.Dims().String() + ", expected " + shape.Of(want...).String()
		}); err != nil {
			return err
		}
	}
	return nil
}

func cellFlops(x, wih, whh shape.Type) shape.Dim {
	if x.Rank() < 1 {
		return shape.Unknown
	}
	return twiceProduct(elementCount(wih).Add(elementCount(whh)), x.Dims().Sub(0, x.Rank()-1).Slice()...)
}

// cellArgs makes operands of a cell; lead is the batch, or nothing.
func cellArgs(g *op.Gen, gates, states int, lead ...int) []*array.Array {
	dims := func(n int) []int { return append(append([]int(nil), lead...), n) }
	in := []*array.Array{g.Normal(dims(3)...)}
	for range states {
		in = append(in, g.Normal(dims(4)...))
	}
	return append(in, g.Uniform(-1, 1, 4*gates, 3), g.Uniform(-1, 1, 4*gates, 4), g.Uniform(-1, 1, 4*gates), g.Uniform(-1, 1, 4*gates))
}
