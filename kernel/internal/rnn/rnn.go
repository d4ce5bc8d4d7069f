package rnn

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// LSTM is torch.nn.LSTM without projections and dropout (Hochreiter and
// Schmidhuber, 1997). Operands: x [T, N, I] ([N, T, I] with BatchFirst, or
// [T, I]), h0 and c0 [Layers·D, N, H] or nil for zeros, D being 2 when
// Bidirectional, then for each layer and direction w_ih [4H, I], w_hh [4H, H]
// and, with HasBias, b_ih and b_hh [4H]; gates in the order i, f, g, o.
// Results: output [T, N, D·H], h_n and c_n (each may be nil). Float element types.
//
//gofx:kernel
type LSTM struct {
	Layers                    int
	Bidirectional, BatchFirst bool
	HasBias                   bool
}

// Run implements Step.
func (s LSTM) Run(w *par.Workspace, out, in []*array.Array) { s.config().run(w, out, in) }

// ScratchBytes implements Scratcher.
func (s LSTM) ScratchBytes(out, in []*array.Array) int { return s.config().scratchBytes(out, in) }

func (s LSTM) config() recurrent {
	return recurrent{layers: s.Layers, bidir: s.Bidirectional, batchFirst: s.BatchFirst, bias: s.HasBias, cell: cellLSTM}
}

// GRU is torch.nn.GRU without dropout (Cho et al., 2014, in the variant that
// applies the reset gate after the product). As LSTM, without c0 and c_n;
// weights have 3H rows, gates in the order r, z, n.
//
//gofx:kernel
type GRU struct {
	Layers                    int
	Bidirectional, BatchFirst bool
	HasBias                   bool
}

// Run implements Step.
func (s GRU) Run(w *par.Workspace, out, in []*array.Array) { s.config().run(w, out, in) }

// ScratchBytes implements Scratcher.
func (s GRU) ScratchBytes(out, in []*array.Array) int { return s.config().scratchBytes(out, in) }

func (s GRU) config() recurrent {
	return recurrent{layers: s.Layers, bidir: s.Bidirectional, batchFirst: s.BatchFirst, bias: s.HasBias, cell: cellGRU}
}

// RNN is torch.nn.RNN without dropout: h' = f(W_ih·x + b_ih + W_hh·h + b_hh),
// f being "tanh" or "relu" (Elman, 1990). As GRU, with H rows of weights.
//
//gofx:kernel
type RNN struct {
	Layers                    int
	Bidirectional, BatchFirst bool
	HasBias                   bool
	Nonlinearity              string
}

// Run implements Step.
func (s RNN) Run(w *par.Workspace, out, in []*array.Array) { s.config().run(w, out, in) }

// ScratchBytes implements Scratcher.
func (s RNN) ScratchBytes(out, in []*array.Array) int { return s.config().scratchBytes(out, in) }

func (s RNN) config() recurrent {
	cell := cellTanh
	if s.Nonlinearity == "relu" {
		cell = cellRelu
	}
	return recurrent{layers: s.Layers, bidir: s.Bidirectional, batchFirst: s.BatchFirst, bias: s.HasBias, cell: cell}
}

type cellKind uint8

const (
	cellTanh cellKind = iota
	cellRelu
	cellLSTM
	cellGRU
)

// recurrent is the common part of the three networks.
type recurrent struct {
	layers            int
	bidir, batchFirst bool
	bias              bool
	cell              cellKind
	// Weights are i8, each before its scale; or their packed form.
	quantised, packed bool
}

func (s recurrent) directions() int {
	if s.bidir {
		return 2
	}
	return 1
}

func (s recurrent) gates() int {
	switch s.cell {
	case cellLSTM:
		return 4
	case cellGRU:
		return 3
	}
	return 1
}

// numStateProducts is 1 where the cell needs the products of the state apart from those of
// the input, else 0.
func (s recurrent) numStateProducts() int {
	if s.cell == cellGRU {
		return 1
	}
	return 0
}

// states is the number of initial states, and of final ones.
func (s recurrent) states() int {
	if s.cell == cellLSTM {
		return 2
	}
	return 1
}

// perDirection is the number of weights of a layer in one direction.
func (s recurrent) perDirection() int {
	n := 2
	if s.quantised {
		n = 4
	}
	if s.bias {
		n += 2
	}
	return n
}

// sizes returns the steps, batch, and features of x and of the hidden state.
func (s recurrent) sizes(out, in []*array.Array) (steps, batch, features, hidden int) {
	x := in[0]
	hidden = out[0].Dim(-1) / s.directions()
	if x.Rank() == 2 {
		return x.Dim(0), 1, x.Dim(1), hidden
	}
	if s.batchFirst {
		return x.Dim(1), x.Dim(0), x.Dim(2), hidden
	}
	return x.Dim(0), x.Dim(1), x.Dim(2), hidden
}

func (s recurrent) scratchBytes(out, in []*array.Array) int {
	steps, batch, features, hidden := s.sizes(out, in)
	gates, size := s.gates()*hidden, operand.ComputeSize(out[0].DType())
	n := operand.LoadAllBytes(in)
	for _, a := range out {
		n += operand.StoreBytes(a)
	}
	n += par.ScratchSize(steps*batch*gates, size) + par.ScratchSize(s.numStateProducts()*batch*gates, size) + 3*par.ScratchSize(batch*hidden, size)
	n += min(s.layers-1, 2) * par.ScratchSize(steps*batch*hidden*s.directions(), size)
	widest := features
	if s.layers > 1 {
		widest = max(widest, hidden*s.directions())
	}
	switch {
	case s.quantised:
		return n + max(quant.DynamicBytes(steps*batch, gates, widest, s.packed),
			quant.DynamicBytes(batch, gates, hidden, s.packed)+par.MostLanes*par.ScratchSize(batch*hidden, 1))
	case size == 8:
		return n + max(gemm.Scratch[float64](steps*batch, gates, widest), gemm.Scratch[float64](batch, gates, hidden))
	}
	return n + max(gemm.Scratch[float32](steps*batch, gates, widest), stepScratch(batch, gates, hidden))
}

func (s recurrent) run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		runRecurrent[float64](w, s, out, in)
	} else {
		runRecurrent[float32](w, s, out, in)
	}
}

// pass is the memory of a recurrent network's run.
type pass[T operand.Real] struct {
	recurrent
	steps, batch, hidden int
	fromX, fromH         []T // gates: of all steps from the input, of one from the state where that is apart
	h, c, next           []T // next is the state after a step where goroutines share its units
	cells                *cellJob[T]
}

// runRecurrent computes the layers, one after the other: each reads the previous
// one's results in both directions, so two buffers between layers suffice. Within
// a direction the inputs of all steps are multiplied at once, before the steps,
// of which each needs the one before.
func runRecurrent[T operand.Real](w *par.Workspace, s recurrent, out, in []*array.Array) {
	mark := w.Mark()
	steps, batch, features, hidden := s.sizes(out, in)
	dirs, state := s.directions(), batch*hidden
	p := pass[T]{recurrent: s, steps: steps, batch: batch, hidden: hidden}
	gates := s.gates() * hidden
	p.fromX, p.fromH = par.Scratch[T](w, steps*batch*gates), par.Scratch[T](w, s.numStateProducts()*batch*gates)
	p.h, p.c, p.next = par.Scratch[T](w, state), par.Scratch[T](w, state), par.Scratch[T](w, state)
	p.cells = par.TakeJob[cellJob[T]](w)
	last := operand.Result[T](w, out[0])
	var between [2][]T
	for i := range min(s.layers-1, 2) {
		between[i] = par.Scratch[T](w, steps*state*dirs)
	}
	x := operand.Load[T](w, in[0])
	h0, hn := operand.Load[T](w, in[1]), operand.Result[T](w, operand.At(out, 1))
	var c0, cn []T
	if s.cell == cellLSTM {
		c0, cn = operand.Load[T](w, in[2]), operand.Result[T](w, operand.At(out, 2))
	}
	weights := in[1+s.states():]
	perDir := s.perDirection()
	for layer := range s.layers {
		y := last
		if layer < s.layers-1 {
			y = between[layer%2]
		}
		for dir := range dirs {
			at := layer*dirs + dir
			p.start(p.h, h0, at)
			p.start(p.c, c0, at)
			p.direction(w, weights[at*perDir:(at+1)*perDir], x, features, y, dir)
			if hn != nil {
				copy(hn[at*state:(at+1)*state], p.h)
			}
			if cn != nil {
				copy(cn[at*state:(at+1)*state], p.c)
			}
		}
		x, features = y, dirs*hidden
	}
	par.PutJob(w, p.cells)
	operand.Store(out[0], last)
	operand.Store(operand.At(out, 1), hn)
	operand.Store(operand.At(out, 2), cn)
	w.Release(mark)
}

// start sets the state to the initial one at position at, or to zero.
func (p *pass[T]) start(state, initial []T, at int) {
	if initial == nil {
		clear(state)
		return
	}
	copy(state, initial[at*len(state):])
}

// direction runs one layer in one direction from x to its part of y.
func (p *pass[T]) direction(w *par.Workspace, weights []*array.Array, x []T, features int, y []T, dir int) {
	if len(p.h) == 0 {
		return
	}
	mark := w.Mark()
	gates, rows := p.gates()*p.hidden, p.steps*p.batch
	if rows == 0 {
		return // the steps of no batch have no rows to begin at
	}
	var bx, bh []T
	if last := len(weights) - 2; p.bias {
		bx, bh = operand.Load[T](w, weights[last]), operand.Load[T](w, weights[last+1])
	}
	if p.numStateProducts() == 0 {
		fillRows(w, p.fromX, bx, bh, gates)
	} else {
		fillRows(w, p.fromX, bx, nil, gates)
	}
	p.inputs(w, weights, x, features)
	r := p.recurrence(w, weights)
	d := direction{gates: gates, stride: 1, rowsOfStep: p.batch, back: dir == 1, at: dir * p.hidden}
	if p.batchFirst { // rows of x and y follow each other by batch, not by step
		d.stride, d.rowsOfStep = p.steps, 1
	}
	if parts := p.parts(w, &r); parts > 1 {
		p.together(w, &r, d, y, bh, parts)
	} else {
		p.inTurn(w, &r, d, y, bh)
	}
	r.end(w)
	w.Release(mark)
}

// direction says where the steps of a layer in one direction are.
type direction struct {
	gates              int // of a row
	stride, rowsOfStep int // rows from one batch entry to the next, and from one step to the next
	back               bool
	at                 int // of a row of y
}

// row is the row of x and y at which round i begins.
func (d *direction) row(i, steps int) int {
	if d.back {
		i = steps - 1 - i
	}
	return i * d.rowsOfStep
}

// inTurn computes one step after the other, of which each shares its products, and then its
// batch entries, among the goroutines.
func (p *pass[T]) inTurn(w *par.Workspace, r *recurrence[T], d direction, y, bh []T) {
	for i := range p.steps {
		row := d.row(i, p.steps)
		if p.numStateProducts() == 0 {
			r.add(w, p.h, p.fromX[row*d.gates:], d.stride*d.gates)
		} else {
			fillRows(w, p.fromH, bh, nil, d.gates)
			r.add(w, p.h, p.fromH, d.gates)
		}
		*p.cells = p.cellsOf(d, y, row)
		w.Parallel(p.batch, max(1, cellWork/max(p.hidden, 1)), p.cells)
	}
}

// cellsOf returns the cells of the step whose rows begin at row.
func (p *pass[T]) cellsOf(d direction, y []T, row int) cellJob[T] {
	return cellJob[T]{kind: p.cell, level: cpu.Host.Level, hidden: p.hidden, fromX: p.fromX, fromH: p.fromH, h: p.h, c: p.c,
		y: y, row: row, rowStride: d.stride, yWidth: p.directions() * p.hidden, yAt: d.at}
}

// inputs adds the products of all steps of x with their weight to fromX.
func (p *pass[T]) inputs(w *par.Workspace, weights []*array.Array, x []T, features int) {
	mark := w.Mark()
	gates, rows := p.gates()*p.hidden, p.steps*p.batch
	if p.quantised {
		d := quant.NewDynamic(w, p.step(), rows, gates, features, weights[0], weights[1], p.packed)
		d.Add(w, rows, operand.AsFloat32(x), operand.AsFloat32(p.fromX), gates)
	} else {
		gemm.Gemm(w, false, true, rows, gates, features, x, features, operand.Load[T](w, weights[0]), features, p.fromX, gates, true)
	}
	w.Release(mark)
}

// recurrence prepares the products of the state with its weight.
func (p *pass[T]) recurrence(w *par.Workspace, weights []*array.Array) recurrence[T] {
	gates := p.gates() * p.hidden
	if p.quantised {
		return recurrence[T]{rows: p.batch, n: gates, k: p.hidden, level: cpu.Host.Level, quantised: true, bytes: quant.NewDynamic(w, p.step(), p.batch, gates, p.hidden, weights[2], weights[3], p.packed)}
	}
	return newRecurrence(w, p.batch, gates, p.hidden, operand.Load[T](w, weights[1]), true)
}

// fillRows sets each row of dst to the sum of two biases, or to one, or to zero
// without any.
func fillRows[T operand.Real](w *par.Workspace, dst, bias, more []T, width int) {
	if len(dst) == 0 {
		return
	}
	first := dst[:width]
	if bias == nil {
		clear(first)
	} else {
		copy(first, bias)
	}
	for i, v := range more {
		first[i] += v
	}
	j := par.TakeJob[fillJob[T]](w)
	*j = fillJob[T]{first: first, rows: dst[width:]}
	w.Parallel(len(dst)/width-1, max(1, par.SimdPack/width), j)
	par.PutJob(w, j)
}

// fillJob copies a row to others.
type fillJob[T operand.Real] struct{ first, rows []T }

// Do sets rows [lo, hi).
func (j *fillJob[T]) Do(lo, hi int) {
	n := len(j.first)
	for i := lo; i < hi; i++ {
		copy(j.rows[i*n:(i+1)*n], j.first)
	}
}
