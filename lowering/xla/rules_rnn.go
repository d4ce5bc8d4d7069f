package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// recurrent is what lstm, gru and rnn have in common: layers of loops over time.
type recurrent struct {
	layers                 int
	both, batchFirst, bias bool
	bytes                  bool // weights are i8, each before its scale
	states                 int  // h, and c
	// cell computes the next states from what comes of the input [N, gates·H], what comes of
	// the state without its bias, the bias (or nil) and the states [N, H].
	cell func(c *call, x, h, bias *value, state []*value) []*value
}

func lstm(c *call) []*value {
	s := step[*kernel.LSTM](c)
	return recurrent{s.Layers, s.Bidirectional, s.BatchFirst, s.HasBias, false, 2, lstmCell}.emit(c)
}

func gru(c *call) []*value {
	s := step[*kernel.GRU](c)
	return recurrent{s.Layers, s.Bidirectional, s.BatchFirst, s.HasBias, false, 1, gruCell}.emit(c)
}

func qLstm(c *call) []*value {
	s := step[*kernel.QLSTM](c)
	return recurrent{s.Layers, s.Bidirectional, s.BatchFirst, s.HasBias, true, 2, lstmCell}.emit(c)
}

func qGru(c *call) []*value {
	s := step[*kernel.QGRU](c)
	return recurrent{s.Layers, s.Bidirectional, s.BatchFirst, s.HasBias, true, 1, gruCell}.emit(c)
}

func rnn(c *call) []*value {
	s := step[*kernel.RNN](c)
	f := func(c *call, x, h, bias *value, _ []*value) []*value {
		z := c.Op("add", x, c.biased(h, bias))
		if s.Nonlinearity == "relu" {
			return []*value{c.Op("maximum", z, c.Const(z.Type, 0))}
		}
		return []*value{c.Op("tanh", z)}
	}
	return recurrent{s.Layers, s.Bidirectional, s.BatchFirst, s.HasBias, false, 1, f}.emit(c)
}

func (c *call) biased(x, bias *value) *value {
	if bias == nil {
		return x
	}
	return c.Op("add", x, c.Trailing(bias, x.Type.Dims))
}

// gate returns part i of what n gates share.
func (c *call) gate(x *value, i, n int) *value {
	h := x.Type.Dims[1] / n
	return c.part(x, 1, i*h, (i+1)*h, 1)
}

func lstmCell(c *call, x, h, bias *value, state []*value) []*value {
	z := c.Op("add", x, c.biased(h, bias))
	in, forget := c.Op("logistic", c.gate(z, 0, 4)), c.Op("logistic", c.gate(z, 1, 4))
	g, out := c.Op("tanh", c.gate(z, 2, 4)), c.Op("logistic", c.gate(z, 3, 4))
	cell := c.Op("add", c.Op("multiply", forget, state[1]), c.Op("multiply", in, g))
	return []*value{c.Op("multiply", out, c.Op("tanh", cell)), cell}
}

func gruCell(c *call, x, h, bias *value, state []*value) []*value {
	h = c.biased(h, bias)
	reset := c.Op("logistic", c.Op("add", c.gate(x, 0, 3), c.gate(h, 0, 3)))
	keep := c.Op("logistic", c.Op("add", c.gate(x, 1, 3), c.gate(h, 1, 3)))
	n := c.Op("tanh", c.Op("add", c.gate(x, 2, 3), c.Op("multiply", reset, c.gate(h, 2, 3))))
	// (h-n)·z + n
	return []*value{c.Op("add", c.Op("multiply", c.Op("subtract", state[0], n), keep), n)}
}

// matrix is a weight, or one of i8 with its scale.
type matrix struct{ rows, scale *value }

// product multiplies the last dimension of x with the rows of w. Those of i8 are multiplied
// with what x is when all of it is quantised.
func (c *call) product(x *value, w matrix) *value {
	if w.scale == nil {
		last := []int{x.Type.Rank() - 1}
		return c.dot(x, w.rows, stablehlo.Dot{LhsContract: last, RhsContract: []int{1}})
	}
	return c.with(func(b op.Builder, in []op.Value) op.Value {
		q := b.Call(std.DynamicQuantize, op.None{}, in[0])
		all := make([]op.Value, len(std.QLinear.In))
		copy(all, []op.Value{b.Item(q, 0), b.Item(q, 1), b.Item(q, 2), in[1], in[2]})
		return b.Call(std.QLinear, std.QLinearAttrs{DType: array.F32}, all...)
	}, x, w.rows, w.scale)
}

// weights are those of one layer in one direction: for what comes in and for the state, each
// with its bias or nil.
type weights struct {
	in, state         matrix
	inBias, stateBias *value
}

// weightsOf takes the operands of a layer and direction apart.
func (r recurrent) weightsOf(c *call, k int) (w weights) {
	per := 2
	if r.bytes {
		per = 4
	}
	if r.bias {
		per += 2
	}
	list := c.in[1+r.states+k*per:][:per]
	if r.bytes {
		w.in, w.state = matrix{list[0], list[1]}, matrix{list[2], list[3]}
	} else {
		w.in, w.state = matrix{rows: c.widen(list[0])}, matrix{rows: c.widen(list[1])}
	}
	if r.bias {
		w.inBias, w.stateBias = c.widen(list[per-2]), c.widen(list[per-1])
	}
	return w
}

// emit runs the layers, each in one or two directions, one after the other.
func (r recurrent) emit(c *call) []*value {
	x := c.widen(c.in[0])
	single := x.Type.Rank() == 2
	switch {
	case single:
		x = c.Reshape(x, x.Type.Dims[0], 1, x.Type.Dims[1])
	case r.batchFirst:
		x = c.Transpose(x, 1, 0, 2)
	}
	n, dirs := x.Type.Dims[1], 1
	if r.both {
		dirs = 2
	}
	finals := make([][]*value, r.states)
	for layer := range r.layers {
		var outs []*value
		for dir := range dirs {
			k := layer*dirs + dir
			w := r.weightsOf(c, k)
			width := w.state.rows.Type.Dims[1]
			var state []*value
			for s := range r.states {
				h := c.in[1+s]
				if h == nil {
					state = append(state, c.Const(x.Type.With(n, width), 0))
					continue
				}
				h = c.Reshape(c.widen(h), r.layers*dirs, n, width)
				state = append(state, c.Reshape(c.part(h, 0, k, k+1, 1), n, width))
			}
			y, end := r.run(c, c.biased(c.product(x, w.in), w.inBias), w.state, w.stateBias, state, dir == 1)
			outs = append(outs, y)
			for s, v := range end {
				finals[s] = append(finals[s], c.Reshape(v, 1, n, width))
			}
		}
		x = c.Concat(2, outs...)
	}
	if r.batchFirst && !single {
		x = c.Transpose(x, 1, 0, 2)
	}
	out := []*value{x}
	for _, f := range finals {
		out = append(out, c.Concat(0, f...))
	}
	for i, v := range out {
		out[i] = c.Reshape(c.Convert(v, c.out[i].Elem), c.out[i].Dims...)
	}
	return out
}

// run is one loop over time, backwards or not: z [T, N, gates·H] comes of the inputs.
func (r recurrent) run(c *call, z *value, w matrix, bias *value, state []*value, backwards bool) (out *value, end []*value) {
	i64 := stablehlo.Of(array.I64)
	steps, n, h := z.Type.Dims[0], state[0].Type.Dims[0], state[0].Type.Dims[1]
	all := z.Type.With(steps, n, h)
	if steps == 0 { // no slice of an empty sequence could be written down
		return c.Const(all, 0), state
	}
	in := append([]*value{c.Const(i64, 0), c.Const(all, 0)}, state...)
	for _, v := range []*value{z, w.rows, w.scale, bias} {
		if v != nil { // which the rounds read
			in = append(in, v)
		}
	}
	var types []hlo
	for _, v := range in {
		types = append(types, v.Type)
	}
	k := &call{Builder: stablehlo.NewBuilder(types...)}
	more := k.Return(k.Compare("LT", k.Arg(0), k.Const(i64, uint64(steps))))

	k = &call{Builder: stablehlo.NewBuilder(types...)}
	now := k.Region.Args[2 : 2+len(state)]
	rest := k.Region.Args[2+len(state):]
	at, zero := k.Arg(0), k.Const(i64, 0)
	if backwards {
		at = k.Op("subtract", k.Const(i64, uint64(steps-1)), at)
	}
	x := k.Add(k.With("dynamic_slice", []*value{rest[0], at, zero, zero}, "slice_sizes", stablehlo.Ints{1, n, z.Type.Dims[2]}))[0]
	inner := matrix{rows: rest[1]}
	if w.scale != nil {
		inner.scale = rest[2]
	}
	if bias != nil {
		bias = rest[len(rest)-1]
	}
	next := r.cell(k, k.Reshape(x, n, z.Type.Dims[2]), k.product(now[0], inner), bias, now)
	y := k.Op("dynamic_update_slice", k.Arg(1), k.Reshape(next[0], 1, n, h), at, zero, zero)
	body := k.Return(slices.Concat([]*value{k.Op("add", k.Arg(0), k.Const(i64, 1)), y}, next, rest)...)

	got := c.Add(&stablehlo.Op{Name: "while", Operands: in, Regions: []*stablehlo.Region{more, body}})
	return got[1], got[2 : 2+len(state)]
}
