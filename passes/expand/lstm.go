package expand

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// lstm writes a long short-term memory.
func lstm(c *maker, r sequential, in []op.Value) []op.Value {
	r.maker, r.gates, r.states = c, 4, 2
	r.cell = func(x, _, cell, _ op.Value) (op.Value, op.Value) {
		h, next, _ := c.lstmCell(x, cell, r.hidden)
		return h, next
	}
	return r.run(in)
}

// lstmCell is a step of a long short-term memory from the sums of its gates [N,4H], with the
// gates.
func (c *maker) lstmCell(sums, cell op.Value, hidden shape.Dim) (h, next op.Value, gates [4]op.Value) {
	for i, part := range c.quarters(sums, hidden) {
		f := std.Sigmoid
		if i == 2 {
			f = std.Tanh
		}
		gates[i] = c.apply(f, part)
	}
	next = c.add(c.mul(gates[1], cell), c.mul(gates[0], gates[2]))
	return c.mul(gates[3], c.apply(std.Tanh, next)), next, gates
}

// quarters are the four parts of [N,4H].
func (c *maker) quarters(x op.Value, hidden shape.Dim) (parts [4]op.Value) {
	for i := range parts {
		parts[i] = c.slice(x, 1, hidden.MulInt(i), hidden.MulInt(i+1))
	}
	return parts
}

// lstmLayer writes a layer as one call.
func (r *sequential) lstmLayer(x op.Value, states [2]op.Value, weights []op.Value, reversed bool) (op.Value, [2]op.Value) {
	args := []op.Value{x, states[0], states[1]}
	for _, v := range weights {
		args = append(args, r.widened(v))
	}
	y := r.call(std.LstmLayer, std.LstmLayerAttrs{Reverse: reversed}, args...)
	out, cells := r.item(y, 0), r.item(y, 1)
	return out, [2]op.Value{r.final(out, states[0], reversed), r.final(cells, states[1], reversed)}
}

// final is the last state in a layer's direction: of the states after all steps, or that
// which it began with, where it has no steps.
func (r *sequential) final(all, first op.Value, reversed bool) op.Value {
	d := r.dims(all)
	switch n, known := d[0].Int(); {
	case known && n == 0:
		return first
	case known && reversed:
		return r.pick(all, 0, 0)
	case known:
		return r.pick(all, 0, n-1)
	}
	first = r.reshape(first, shape.Const(1), d[1], d[2])
	if reversed {
		return r.pick(r.cat(0, all, first), 0, 0)
	}
	last := r.slice(r.cat(0, first, all), 0, d[0], d[0].AddInt(1))
	return r.reshape(last, d[1], d[2])
}

// inOrder are the steps in the order in which a layer takes them.
func (c *maker) inOrder(x op.Value, reverse bool) []int {
	order := sequence(c.int(c.dims(x)[0], "the number of steps"))
	if reverse {
		for i := range order {
			order[i] = len(order) - 1 - i
		}
	}
	return order
}

// lstmLayer writes the steps of a layer, and what it keeps of them.
func lstmLayer(c *maker, a std.LstmLayerAttrs, in []op.Value) []op.Value {
	x, wh := c.widened(in[0]), c.widened(in[4])
	d, hidden := c.dims(x), c.dims(wh)[1]
	state := func(v op.Value) op.Value {
		if v == nil {
			return c.zeros(x.Type().DType(), d[1], hidden)
		}
		return c.widened(v)
	}
	h, cell := state(in[1]), state(in[2])
	sums := times(c, c.reshape(x, d[0].Mul(d[1]), d[2]), c.swap(c.widened(in[3]), 0, 1))
	for _, bias := range in[5:] {
		if bias != nil {
			sums = c.add(sums, c.widened(bias))
		}
	}
	sums = c.reshape(sums, d[0], d[1], hidden.MulInt(4))
	order := c.inOrder(x, a.Reverse)
	rows := [3][]op.Value{}
	for i := range rows {
		rows[i] = make([]op.Value, len(order))
	}
	turned := c.swap(wh, 0, 1)
	for _, t := range order {
		var gates [4]op.Value
		h, cell, gates = c.lstmCell(c.add(c.pick(sums, 0, t), times(c, h, turned)), cell, hidden)
		rows[0][t], rows[1][t], rows[2][t] = h, cell, c.cat(1, gates[:]...)
	}
	out := make([]op.Value, 3)
	for i := range out {
		out[i] = c.rows(rows[i], i)
	}
	return out
}

// rows joins the rows of all steps to result i.
func (c *maker) rows(list []op.Value, i int) op.Value {
	if len(list) == 0 {
		return c.zeros(c.result(i).DType(), c.outDims(i)...)
	}
	return c.back(c.stack(0, list), i)
}

// lstmLayerGrad writes the way back through the steps of a layer.
func lstmLayerGrad(c *maker, a std.LstmLayerAttrs, in []op.Value) []op.Value {
	gates, cells, wh := c.widened(in[0]), c.widened(in[1]), c.widened(in[3])
	d := c.dims(cells)
	zeros := c.zeros(cells.Type().DType(), d[1], d[2])
	order := c.inOrder(cells, a.Reverse)
	dh, dc, sums := zeros, zeros, make([]op.Value, len(order))
	more := func(v, seed op.Value, t int) op.Value {
		if seed == nil {
			return v
		}
		return c.add(c.pick(c.widened(seed), 0, t), v)
	}
	for i := len(order) - 1; i >= 0; i-- {
		t, before := order[i], zeros
		switch {
		case i > 0:
			before = c.pick(cells, 0, order[i-1])
		case in[2] != nil:
			before = c.widened(in[2])
		}
		dh, dc = more(dh, in[4], t), more(dc, in[5], t)
		step := c.lstmBack(c.quarters(c.pick(gates, 0, t), d[2]), before, c.pick(cells, 0, t), dh, dc)
		ofGates := c.cat(1, step.ofGates[:]...)
		sums[t] = c.mul(more(ofGates, in[6], t), c.cat(1, step.slopes[:]...))
		dc, dh = step.dc, times(c, sums[t], wh)
	}
	return []op.Value{c.rows(sums, 0), c.back(dh, 1), c.back(dc, 2)}
}

// stepBack is what goes back through a step: the gradients of its gates and the slopes of
// these over their sums, and the gradient of the cell before it.
type stepBack struct {
	ofGates, slopes [4]op.Value
	dc              op.Value
}

// lstmBack goes back through a step from the gradients of its state.
func (c *maker) lstmBack(gates [4]op.Value, before, cell, dh, dc op.Value) (s stepBack) {
	fromOne := func(v op.Value) op.Value { return c.addF(c.mulF(v, -1), 1) }
	in, forget, cand, out := gates[0], gates[1], gates[2], gates[3]
	t := c.apply(std.Tanh, cell)
	dc = c.add(dc, c.mul(c.mul(dh, out), fromOne(c.mul(t, t))))
	s.ofGates = [4]op.Value{c.mul(dc, cand), c.mul(dc, before), c.mul(dc, in), c.mul(dh, t)}
	for i, gate := range gates {
		if i == 2 {
			s.slopes[i] = fromOne(c.mul(gate, gate))
		} else {
			s.slopes[i] = c.mul(fromOne(gate), gate)
		}
	}
	s.dc = c.mul(dc, forget)
	return s
}
