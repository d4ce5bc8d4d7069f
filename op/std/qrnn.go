package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QLstm is lstm with weights of 8 bits, ONNX Runtime's DynamicQuantizeLSTM: operand
// weights has for each layer and direction w_ih, i8, with its scale, w_hh with its
// scale and, unless NoBias, b_ih and b_hh.
//
//	%y = call_function[q_lstm](%x, _, _, %w_ih, %s_ih, %w_hh, %s_hh, %b_ih, %b_hh) : (f32[T,N,H], f32[1,N,H], f32[1,N,H])
//
//gofx:torch q_recurrent(4, x, [h0, c0], weights, num_layers, bidirectional, batch_first, no_bias)
var QLstm = op.Define("q_lstm", op.Spec[LstmAttrs]{
	Doc:    "q_lstm is lstm with weights i8, each followed by its scale, one element or one for each row: x of a layer as a whole, and the states of the batch in each step, are quantised as by dynamic_quantize, and multiplied as integers.",
	NoGrad: roundedSteps, In: op.Args("x", "h0?", "c0?", "weights..."), Class: op.Contraction, Quant: op.QuantNever,
	Results: []string{"output", "h_n", "c_n"},
	Infer: func(c *op.Infer, a LstmAttrs, in []shape.Type) (shape.Type, error) {
		return a.recurrent(4, 2).inferQuantised(c, in)
	},
	Kernel: func(a LstmAttrs, _ []shape.Type) kernel.Step {
		return &kernel.QLSTM{Layers: max(a.NumLayers, 1), Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst, HasBias: !a.NoBias}
	},
	Reference: func(b op.Builder, a LstmAttrs, in []op.Value) op.Value { return a.recurrent(4, 2).reference(b, in) },
	Flops: func(a LstmAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		return a.recurrent(4, 2).flops(in)
	},
	Tol: oneState, Differs: []op.Difference[LstmAttrs]{altersStates(3)},
	Samples: qLstmSamples,
	Bad:     qLstmBad,
})

// QGru is gru with weights of 8 bits; operands as of q_lstm.
//
//gofx:torch q_recurrent(3, x, [h0], weights, num_layers, bidirectional, batch_first, no_bias)
var QGru = op.Define("q_gru", op.Spec[GruAttrs]{
	Doc:    "q_gru is gru with weights i8 as q_lstm has them.",
	NoGrad: roundedSteps, In: op.Args("x", "h0?", "weights..."), Class: op.Contraction, Quant: op.QuantNever,
	Results: []string{"output", "h_n"},
	Infer: func(c *op.Infer, a GruAttrs, in []shape.Type) (shape.Type, error) {
		return a.recurrent(3, 1).inferQuantised(c, in)
	},
	Kernel: func(a GruAttrs, _ []shape.Type) kernel.Step {
		return &kernel.QGRU{Layers: max(a.NumLayers, 1), Bidirectional: a.Bidirectional, BatchFirst: a.BatchFirst, HasBias: !a.NoBias}
	},
	Reference: func(b op.Builder, a GruAttrs, in []op.Value) op.Value { return a.recurrent(3, 1).reference(b, in) },
	Tol:       oneState, Differs: []op.Difference[GruAttrs]{altersStates(2)},
	Flops:   func(a GruAttrs, in []shape.Type, _ shape.Type) shape.Dim { return a.recurrent(3, 1).flops(in) },
	Samples: qGruSamples,
	Bad:     qGruBad,
})

// oneState is what results differ by where a state that lies between two quanta is
// rounded to the one and to the other.
var oneState = op.Tolerance{Rel: 1e-5, Abs: 0.02}

// altersStates is of networks where that moves more; weights begin at operand first.
func altersStates(first int) op.Difference[LstmAttrs] {
	return departs[LstmAttrs](op.Alters, "a state that lies between two quanta may be rounded to the other one, which shows where weights or states are large", func(in []*array.Array) bool {
		for i, a := range in {
			scale := i >= first && a != nil && i > 0 && in[i-1] != nil && in[i-1].DType() == array.I8
			if a != nil && a.DType().IsFloat() && (wild(a) || scale && most(a) > 0.01) {
				return true
			}
		}
		return false
	})
}

// most is the greatest magnitude.
func most(a *array.Array) (m float64) {
	for i := range a.Len() {
		m = max(m, math.Abs(array.Float64At(a, i)))
	}
	return m
}

// inferQuantised checks what is of 8 bits, and the rest as that of a network on floats.
func (r recurrentAttrs) inferQuantised(c *op.Infer, in []shape.Type) (shape.Type, error) {
	first, each := 1+r.states, r.perDirection()+2
	if r.layers < 0 || r.layers > maxLayers {
		return shape.Type{}, badAttr("num_layers", strconv.Itoa(r.layers), "1 or more")
	}
	want := max(r.layers, 1) * r.directions() * each
	if n := max(len(in)-first, 0); n != want {
		return shape.Type{}, diag.New(op.OperandCount, strconv.Itoa(n)+" weights, expected "+strconv.Itoa(want)).
			WithHint("every layer and direction has w_ih, its scale, w_hh, its scale and, unless no_bias is set, b_ih and b_hh")
	}
	for i, name := range append([]string{"x"}, []string{"h0", "c0"}[:r.states]...) {
		if err := wantType(name, operandAt(in, i), array.F32); err != nil {
			return shape.Type{}, err
		}
	}
	floats := append([]shape.Type(nil), in[:first]...)
	for i := first; i < len(in); i += each {
		for k := range 2 {
			w, name := in[i+2*k], r.weightName(len(floats)-first)
			if err := wantType(name, w, array.I8); err != nil {
				return shape.Type{}, err
			}
			if err := quantScale(c, name, in[i+2*k+1], shape.Type{}, w.Dim(0), " as "+name+" has rows"); err != nil {
				return shape.Type{}, err
			}
			floats = append(floats, w.WithDType(array.F32))
		}
		floats = append(floats, in[i+4:i+each]...)
	}
	return r.infer(c, floats)
}

// reference is the output, layer by layer and step by step: products of dequantised
// values, of which the state's are quantised in each step.
func (r recurrentAttrs) reference(b op.Builder, in []op.Value) op.Value {
	c, x := composer{b}, in[0]
	flat := x.Type().Rank() == 2
	if flat {
		x = c.Call(Unsqueeze, DimAttrs{Dim: 1}, x)
	} else if r.batchFirst {
		x = c.transpose(x, 0, 1)
	}
	weights := in[1+r.states:]
	for layer := range max(r.layers, 1) {
		var ways []op.Value
		quantised := dynamic(b, x)
		for dir := range r.directions() {
			n := r.perDirection() + 2
			l := quantLayer{composer: c, net: r, weights: weights[:n], at: layer*r.directions() + dir, flat: flat}
			weights = weights[n:]
			ways = append(ways, l.output(quantised, in[1:1+r.states], dir == 1))
		}
		x = c.Call(Cat, DimAttrs{Dim: -1}, ways...)
	}
	switch {
	case flat:
		x = c.Call(Squeeze, SqueezeAttrs{op.IntList(1)}, x)
	case r.batchFirst:
		x = c.transpose(x, 0, 1)
	}
	return x
}

// dynamic is what dynamic_quantize leaves of x.
func dynamic(b op.Builder, x op.Value) op.Value {
	q := b.Call(DynamicQuantize, nil, x)
	return quantValue{b.Item(q, 0), b.Item(q, 1), b.Item(q, 2)}.real(b, 0)
}

// quantLayer is a layer in one direction.
type quantLayer struct {
	composer
	net     recurrentAttrs
	weights []op.Value
	at      int
	flat    bool
}

// product is a part of the gates: that of the input, or that of the state.
func (l quantLayer) product(x op.Value, part int) op.Value {
	w := quantValue{q: l.weights[2*part], scale: l.weights[2*part+1]}.real(l.Builder, 0)
	var bias op.Value
	if !l.net.noBias {
		bias = l.weights[4+part]
	}
	return l.Call(Linear, nil, x, w, bias)
}

// output runs the steps over x [T,N,I], from the last where back says so.
func (l quantLayer) output(x op.Value, states []op.Value, back bool) op.Value {
	steps, known := x.Type().Dim(0).Int()
	if !known {
		panic(badAttr("x", x.Type().String(), "a known number of steps, to be written out"))
	}
	hidden := l.weights[2].Type().Dim(1)
	var start [2]op.Value
	for i, s := range states {
		if s == nil {
			start[i] = l.Call(Full, FullAttrs{shape.Of(x.Type().Dim(1), hidden), op.Int(0), array.F32})
			continue
		}
		start[i] = l.Call(Select, SelectAttrs{Dim: 0, Index: l.at}, s)
		if l.flat {
			start[i] = l.Call(Unsqueeze, DimAttrs{Dim: 0}, start[i])
		}
	}
	h, c, gates := start[0], start[1], l.product(x, 0)
	if steps == 0 {
		return l.Call(Full, FullAttrs{x.Type().Dims().With(-1, hidden), op.Int(0), array.F32})
	}
	out := make([]op.Value, steps)
	for i := range steps {
		t := i
		if back {
			t = steps - 1 - i
		}
		h, c = l.next(l.Call(Select, SelectAttrs{Dim: 0, Index: t}, gates), h, c)
		out[t] = l.Call(Unsqueeze, DimAttrs{Dim: 0}, h)
	}
	return l.Call(Cat, DimAttrs{Dim: 0}, out...)
}

// next returns the states after h and, of an lstm, c; x has the input's gates.
func (l quantLayer) next(x, h, c op.Value) (h2, c2 op.Value) {
	s, n := l.product(dynamic(l.Builder, h), 1), l.net.gates
	if l.net.states == 2 {
		g := l.add(x, s)
		both := l.Call(LstmGates, nil, l.gate(g, n, 0), l.gate(g, n, 1), l.gate(g, n, 2), l.gate(g, n, 3), c)
		return l.Item(both, 0), l.Item(both, 1)
	}
	reset := l.apply(Sigmoid, l.add(l.gate(x, n, 0), l.gate(s, n, 0)))
	update := l.apply(Sigmoid, l.add(l.gate(x, n, 1), l.gate(s, n, 1)))
	fresh := l.apply(Tanh, l.add(l.gate(x, n, 2), l.mul(reset, l.gate(s, n, 2))))
	return l.add(fresh, l.mul(update, l.sub(h, fresh))), nil
}

// quantRecurrent makes weights of floats ones of 8 bits, with scales of rows or, where
// one says so, of one element.
func (r recurrentAttrs) quantRecurrent(g *op.Gen, in []*array.Array, one bool) []*array.Array {
	first, each := 1+r.states, r.perDirection()
	out := append([]*array.Array(nil), in[:first]...)
	for i := first; i < len(in); i += each {
		for _, w := range in[i : i+2] {
			scale := g.Uniform(0.003, 0.005, w.Dim(0))
			if one {
				scale = scaleOf(0.005)
			}
			out = append(out, quantised(g, array.I8, w.Shape()...), scale)
		}
		out = append(out, in[i+2:i+each]...)
	}
	return out
}

// roundedSteps is why recurrences on quantised values have no gradient.
const roundedSteps = "its operands are rounded to integers in every step, which change in steps only"
