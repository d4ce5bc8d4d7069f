package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// LstmLayerAttrs are the attributes of lstm_layer and lstm_layer_grad. Reverse goes from the
// last step to the first.
type LstmLayerAttrs struct {
	Reverse bool
}

// LstmLayer is one layer of lstm in one direction, which keeps what its gradient needs: the
// cells after each step, and the gates i, f, g and o of each step.
//
//	%y = call_function[lstm_layer](%x, _, _, %w_ih, %w_hh, %b_ih, %b_hh) : (f32[T,N,H], f32[T,N,H], f32[T,N,4*H])
//
//gofx:torch lstm_layer(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, reverse)
var LstmLayer = op.Define("lstm_layer", op.Spec[LstmLayerAttrs]{
	Doc: "lstm_layer is one layer of lstm in one direction, from x [T,N,I] and states [N,H]; it keeps the cells and gates of each step for its gradient.",
	In:  op.Args("x", "h0?", "c0?", "weight_ih", "weight_hh", "bias_ih?", "bias_hh?"), Class: op.Contraction, Quant: op.QuantNever,
	Results: []string{"output", "cells", "gates"},
	Infer: func(c *op.Infer, _ LstmLayerAttrs, in []shape.Type) (shape.Type, error) {
		return inferLstmLayer(c, in)
	},
	Kernel: func(a LstmLayerAttrs, _ []shape.Type) kernel.Step { return &kernel.LSTMLayer{Reverse: a.Reverse} },
	Grad:   lstmLayerGrad,
	Flops: func(_ LstmLayerAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		return cellFlops(in[0], in[3], in[4])
	},
	Samples: lstmLayerSamples,
	Bad:     lstmLayerBad,
})

// LstmLayerGrad goes back through the steps of lstm_layer: from the gates and cells that it
// kept, and the gradients of its results, to that of the sums of the gates. The gradients of
// x, of the weights and of the biases follow from it by products over all steps at once.
//
//	%g = call_function[lstm_layer_grad](%gates, %cells, _, %w_hh, %grad) : (f32[T,N,4*H], f32[N,H], f32[N,H])
//
//gofx:torch lstm_layer_grad(gates, cells, c0, weight_hh, grad_output, grad_cells, grad_gates, reverse)
var LstmLayerGrad = op.Define("lstm_layer_grad", op.Spec[LstmLayerAttrs]{
	Differs: []op.Difference[LstmLayerAttrs]{
		departs[LstmLayerAttrs](op.Alters, "gates that are none, beyond -1 and 1: whether infinity or NaN comes of what overflows follows from another order of the terms", func(in []*array.Array) bool {
			return beyondOne(in[0])
		}),
	},
	Doc: "lstm_layer_grad returns, from the gates [T,N,4H] and cells [T,N,H] of lstm_layer and the gradients of its results, those of the sums of the gates, of h0 and of c0.",
	In:  op.Args("gates", "cells", "c0?", "weight_hh", "grad_output?", "grad_cells?", "grad_gates?"), Class: op.Contraction, Quant: op.QuantNever,
	Results: []string{"grad_sums", "grad_h0", "grad_c0"},
	Infer: func(c *op.Infer, _ LstmLayerAttrs, in []shape.Type) (shape.Type, error) {
		return inferLstmLayerGrad(c, in)
	},
	Kernel: func(a LstmLayerAttrs, _ []shape.Type) kernel.Step { return &kernel.LSTMLayerGrad{Reverse: a.Reverse} },
	Flops: func(_ LstmLayerAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		if in[1].Rank() != 3 {
			return shape.Unknown
		}
		return twiceProduct(elementCount(in[3]), in[1].Dim(0), in[1].Dim(1))
	},
	Samples: lstmLayerGradSamples,
	Bad:     lstmLayerGradBad,
})

// beyondOne reports whether elements are no gates: above 1, below -1, or NaN.
func beyondOne(a *array.Array) bool {
	for i := range a.Len() {
		if v := array.Float64At(a, i); !(v >= -1 && v <= 1) {
			return true
		}
	}
	return false
}

func inferLstmLayer(c *op.Infer, in []shape.Type) (shape.Type, error) {
	names := []string{"x", "h0", "c0", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}
	d, err := sameFloat(names[:len(in)], in)
	if err != nil {
		return shape.Type{}, err
	}
	x, hidden := in[0], in[4].Dim(1)
	if err := wantRank("x", x, 3, 3); err != nil {
		return shape.Type{}, err
	}
	rows := hidden.MulInt(4)
	state := []shape.Dim{x.Dim(1), hidden}
	for i, want := range [][]shape.Dim{nil, state, state, {rows, x.Dim(2)}, {rows, hidden}, {rows}, {rows}} {
		if t := operandAt(in, i); want != nil {
			if err := wantShape(c, names[i], t, want); err != nil {
				return shape.Type{}, err
			}
			if i < 3 && state[0].IsUnknown() && t.Ranked() {
				state[0] = t.Dim(0)
			}
		}
	}
	output := typeOf(d, x.Ranked(), x.Dim(0), state[0], hidden)
	return shape.TupleType(output, output, typeOf(d, x.Ranked(), x.Dim(0), state[0], rows)), nil
}

func inferLstmLayerGrad(c *op.Infer, in []shape.Type) (shape.Type, error) {
	names := []string{"gates", "cells", "c0", "weight_hh", "grad_output", "grad_cells", "grad_gates"}
	d, err := sameFloat(names[:len(in)], in)
	if err != nil {
		return shape.Type{}, err
	}
	cells, hidden := in[1], in[3].Dim(1)
	if err := wantRank("cells", cells, 3, 3); err != nil {
		return shape.Type{}, err
	}
	rows := hidden.MulInt(4)
	steps, batch := cells.Dim(0), cells.Dim(1)
	one, all := []shape.Dim{steps, batch, hidden}, []shape.Dim{steps, batch, rows}
	for i, want := range [][]shape.Dim{all, one, {batch, hidden}, {rows, hidden}, one, one, all} {
		if err := wantShape(c, names[i], operandAt(in, i), want); err != nil {
			return shape.Type{}, err
		}
	}
	state := typeOf(d, cells.Ranked(), batch, hidden)
	return shape.TupleType(typeOf(d, cells.Ranked(), all...), state, state), nil
}

// lstmLayerGrad is the rule of lstm_layer: one call goes back through the steps, and products
// over all of them follow.
func lstmLayerGrad(b op.Builder, a LstmLayerAttrs, c op.GradCall) []op.Value {
	g, x, h0 := grads{b}, c.In[0], c.In[1]
	back := g.call("lstm_layer_grad", a, c.Result(2), c.Result(1), c.In[2], c.In[4], c.Seeds[0], c.Seeds[1], c.Seeds[2])
	sums, d := b.Item(back, 0), g.dims(x)
	width := g.dims(sums)[2]
	turned := g.turn(g.reshape(sums, d[0].Mul(d[1]), width))
	weight := func(v op.Value) op.Value {
		features := g.dims(v)[2]
		return g.call("matmul", op.None{}, turned, g.reshape(v, d[0].Mul(d[1]), features))
	}
	out := make([]op.Value, 7)
	if c.Need(0) {
		out[0] = g.call("matmul", op.None{}, sums, c.In[3])
	}
	if c.Need(1) {
		out[1] = b.Item(back, 1)
	}
	if c.Need(2) {
		out[2] = b.Item(back, 2)
	}
	if c.Need(3) {
		out[3] = weight(x)
	}
	if c.Need(4) {
		out[4] = weight(g.statesBefore(c.Result(0), h0, a.Reverse))
	}
	if c.Need(5) || c.Need(6) {
		bias := g.sum(sums, false, 0, 1)
		out[5], out[6] = bias, bias
	}
	return out
}

// statesBefore are the states [T,N,H] that each step began with, from those that it ended
// with and the first one, nil for zeros.
func (g grads) statesBefore(h, first op.Value, reverse bool) op.Value {
	d, none, one := g.dims(h), shape.Const(0), shape.Const(1)
	if first == nil {
		lo, hi := one, shape.Const(-1)
		if reverse {
			lo, hi = hi, lo
		}
		return g.pad(h, []shape.Dim{lo, none, none}, []shape.Dim{hi, none, none})
	}
	parts, from := []op.Value{g.reshape(first, one, d[1], d[2]), h}, none
	if reverse {
		parts[0], parts[1], from = parts[1], parts[0], one
	}
	return g.slice(g.call("cat", DimAttrs{}, parts...), 0, from, d[0].Add(from))
}
