package expand

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// recurrent are the networks that run over a sequence. Each step is written out: the
// number of steps must be known. An LSTM is written as its layers first, which gradients
// go through as they are.
var recurrent = merge(
	entry(std.Lstm, func(c *maker, a std.LstmAttrs, in []op.Value) []op.Value {
		r := sequential{maker: c, layers: a.NumLayers, both: a.Bidirectional, batchFirst: a.BatchFirst, bias: !a.NoBias, gates: 4, states: 2}
		r.layer = r.lstmLayer
		return r.run(in)
	}),
	entry(std.LstmLayer, lstmLayer),
	entry(std.LstmLayerGrad, lstmLayerGrad),
	entry(std.Gru, func(c *maker, a std.GruAttrs, in []op.Value) []op.Value {
		return gru(c, sequential{layers: a.NumLayers, both: a.Bidirectional, batchFirst: a.BatchFirst, bias: !a.NoBias}, in)
	}),
	entry(std.Rnn, func(c *maker, a std.RnnAttrs, in []op.Value) []op.Value {
		r := sequential{maker: c, layers: a.NumLayers, both: a.Bidirectional, batchFirst: a.BatchFirst, bias: !a.NoBias, gates: 1, states: 1}
		f := std.Tanh
		if a.Nonlinearity == "relu" {
			f = std.Relu
		}
		r.cell = func(x, _, _, _ op.Value) (op.Value, op.Value) { return c.apply(f, x), nil }
		return r.run(in)
	}),
)

// gru writes a gated recurrent unit.
func gru(c *maker, r sequential, in []op.Value) []op.Value {
	r.maker, r.gates, r.states, r.apart = c, 3, 1, true
	r.cell = func(x, h, _, s op.Value) (op.Value, op.Value) {
		reset := c.apply(std.Sigmoid, c.add(r.gate(x, 0), r.gate(s, 0)))
		update := c.apply(std.Sigmoid, c.add(r.gate(x, 1), r.gate(s, 1)))
		fresh := c.apply(std.Tanh, c.add(r.gate(x, 2), c.mul(reset, r.gate(s, 2))))
		return c.add(c.mul(c.sub(h, fresh), update), fresh), nil
	}
	return r.run(in)
}

// sequential writes a recurrent network. cell gives the next states from the gates x
// [N,gates*H], which have what comes of the state in them unless that is apart, in s.
type sequential struct {
	*maker
	layers                 int
	both, batchFirst, bias bool
	gates, states          int
	apart                  bool
	bytes                  bool // weights are i8, each before its scale
	cell                   func(x, h, c, s op.Value) (op.Value, op.Value)
	// layer, unless nil, is one layer in one direction as a call, in the place of its steps.
	layer func(x op.Value, states [2]op.Value, weights []op.Value, reversed bool) (op.Value, [2]op.Value)

	batch, hidden shape.Dim
}

// gate is gate i of [N,gates*H].
func (r *sequential) gate(x op.Value, i int) op.Value {
	return r.slice(x, 1, r.hidden.MulInt(i), r.hidden.MulInt(i+1))
}

// run writes all layers and returns the output and the last states.
func (r *sequential) run(in []op.Value) []op.Value {
	x := r.widened(in[0])
	switch {
	case x.Type().Rank() == 2:
		d := r.dims(x)
		x = r.reshape(x, d[0], shape.Const(1), d[1])
	case r.batchFirst:
		x = r.swap(x, 0, 1)
	}
	d := r.dims(x)
	r.batch = d[1]
	weights := in[1+r.states:]
	per, directions := 2, 1
	if r.bytes {
		per = 4
	}
	r.hidden = r.dims(weights[per/2])[1]
	if r.bias {
		per += 2
	}
	if r.both {
		directions = 2
	}
	last := make([][]op.Value, 2)
	for layer := range max(r.layers, 1) {
		var sides []op.Value
		for side := range directions {
			at := layer*directions + side
			write := r.direction
			if r.layer != nil {
				write = r.layer
			}
			y, states := write(x, r.initial(in, at), weights[at*per:(at+1)*per], side == 1)
			sides = append(sides, y)
			for i, s := range states[:r.states] {
				last[i] = append(last[i], s)
			}
		}
		x = r.cat(2, sides...)
	}
	if in[0].Type().Rank() == 3 && r.batchFirst {
		x = r.swap(x, 0, 1)
	}
	out := []op.Value{r.back(r.reshape(x, r.outDims(0)...), 0)}
	for i := range r.states {
		out = append(out, r.back(r.reshape(r.stack(0, last[i]), r.outDims(1+i)...), 1+i))
	}
	return out
}

// initial are the first states [N,H] of a layer and direction.
func (r *sequential) initial(in []op.Value, at int) (states [2]op.Value) {
	for i := range r.states {
		if in[1+i] == nil {
			states[i] = r.zeros(wide(in[0].Type().DType()), r.batch, r.hidden)
			continue
		}
		s := r.widened(in[1+i])
		s = r.slice(s, 0, shape.Const(at), shape.Const(at+1))
		states[i] = r.reshape(s, r.batch, r.hidden)
	}
	return states
}

// direction writes one layer in one direction, from x [T,N,I] to [T,N,H].
func (r *sequential) direction(x op.Value, states [2]op.Value, weights []op.Value, reversed bool) (op.Value, [2]op.Value) {
	d := r.dims(x)
	steps := r.int(d[0], "the number of steps")
	var bias op.Value
	if r.bias {
		bias = r.widened(weights[len(weights)-1])
	}
	width := r.hidden.MulInt(r.gates)
	fromX := r.linear(r.reshape(x, d[0].Mul(d[1]), d[2]), weights, 0)
	if r.bias {
		fromX = r.add(fromX, r.widened(weights[len(weights)-2]))
	}
	fromX = r.reshape(fromX, d[0], d[1], width)
	rows := make([]op.Value, 0, steps)
	for i := range steps {
		t := i
		if reversed {
			t = steps - 1 - i
		}
		gates, fromH := r.pick(fromX, 0, t), r.linear(states[0], weights, 1)
		if r.bias {
			fromH = r.add(fromH, bias)
		}
		if !r.apart {
			gates = r.add(gates, fromH)
		}
		states[0], states[1] = r.cell(gates, states[0], states[1], fromH)
		rows = append(rows, states[0])
	}
	if reversed {
		slices.Reverse(rows)
	}
	if len(rows) == 0 {
		return r.zeros(x.Type().DType(), shape.Const(0), r.batch, r.hidden), states
	}
	return r.stack(0, rows), states
}

// linear is the product of x with weight i of a direction.
func (r *sequential) linear(x op.Value, weights []op.Value, i int) op.Value {
	if r.bytes {
		return dynamic(r.maker, x, weights[2*i], weights[2*i+1])
	}
	return times(r.maker, x, r.swap(r.widened(weights[i]), 0, 1))
}

// times multiplies two matrices.
func times(c *maker, x, y op.Value) op.Value {
	one, dx, dy := shape.Const(1), c.dims(x), c.dims(y)
	z := c.call(std.Bmm, op.None{}, c.reshape(x, one, dx[0], dx[1]), c.reshape(y, one, dy[0], dy[1]))
	return c.reshape(z, dx[0], dy[1])
}
