package rnn

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// LSTMLayerGrad goes back through the steps of LSTMLayer. Operands: the gates [T, N, 4H] and
// cells [T, N, H] that it kept, c0 [N, H] or nil, w_hh [4H, H], then the gradients of its
// results in their shapes, each of which may be nil. Results: the gradient of the sums of
// the gates [T, N, 4H], from which those of x, the weights and the biases follow by
// products over all steps at once, and, each of which may be nil, that of h0 and that of
// c0 [N, H]. Float element types.
//
//gofx:kernel
type LSTMLayerGrad struct {
	Reverse bool // the layer went from the last step to the first
}

// Run implements Step.
func (s LSTMLayerGrad) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		runBack[float64](w, s.Reverse, out, in)
	} else {
		runBack[float32](w, s.Reverse, out, in)
	}
}

// ScratchBytes implements Scratcher.
func (s LSTMLayerGrad) ScratchBytes(out, in []*array.Array) int {
	l, size := layerOf(in[1].Dim(0), in[1]), operand.ComputeSize(out[0].DType())
	n := operand.LoadAllBytes(in) + 3*par.ScratchSize(l.batch*l.hidden, size)
	for _, a := range out {
		n += operand.StoreBytes(a)
	}
	if size == 8 {
		return n + gemm.Scratch[float64](l.batch, l.hidden, 4*l.hidden)
	}
	return n + stepScratch(l.batch, l.hidden, 4*l.hidden)
}

// Cuts implements Cutter: along the batch, of all but the weight.
func (s LSTMLayerGrad) Cuts(out, in [][]int) []par.Cut { return alongBatch(out, in, 2, 3) }

// backPass is the memory of the way back.
type backPass[T operand.Real] struct {
	layer
	gates, cells, before  []T // before is c0, or zeros
	ofY, ofCells, ofGates []T // gradients of the results; nil for none
	sums, h, c            []T // gradients: of the sums of the gates, of a state and of a cell
	products              recurrence[T]
	job                   *backJob[T]
	reverse               bool
}

func runBack[T operand.Real](w *par.Workspace, reverse bool, out, in []*array.Array) {
	l := layerOf(in[1].Dim(0), in[1])
	if l.batch*l.hidden == 0 {
		return
	}
	mark := w.Mark()
	p := backPass[T]{layer: l, reverse: reverse}
	p.gates, p.cells, p.before = operand.Load[T](w, in[0]), operand.Load[T](w, in[1]), operand.Load[T](w, in[2])
	p.ofY, p.ofCells, p.ofGates = operand.Load[T](w, operand.At(in, 4)), operand.Load[T](w, operand.At(in, 5)), operand.Load[T](w, operand.At(in, 6))
	p.h, p.c = par.Scratch[T](w, l.batch*l.hidden), par.Scratch[T](w, l.batch*l.hidden)
	clear(p.h)
	clear(p.c)
	zeros := par.Scratch[T](w, l.batch*l.hidden)
	if p.before == nil {
		clear(zeros)
		p.before = zeros
	}
	p.sums = operand.Result[T](w, out[0])
	p.products = newRecurrence(w, l.batch, l.hidden, 4*l.hidden, operand.Load[T](w, in[3]), false)
	p.job = par.TakeJob[backJob[T]](w)
	for i := l.steps - 1; i >= 0; i-- {
		p.step(w, i)
	}
	if h := operand.At(out, 1); h != nil {
		clear(p.h)
		p.fromNext(w, 0)
		p.store(w, h, p.h)
	}
	if c := operand.At(out, 2); c != nil {
		p.store(w, c, p.c)
	}
	par.PutJob(w, p.job)
	p.products.end(w)
	operand.Store(out[0], p.sums)
	w.Release(mark)
}

// store writes a state's gradient to a result.
func (p *backPass[T]) store(w *par.Workspace, a *array.Array, from []T) {
	mark := w.Mark()
	to := operand.Result[T](w, a)
	copy(to, from)
	operand.Store(a, to)
	w.Release(mark)
}

// fromNext adds to the gradient of a state what step i, the one after it, gives.
func (p *backPass[T]) fromNext(w *par.Workspace, i int) {
	if i >= p.steps {
		return
	}
	lo, hi := p.of(p.at(i, p.reverse), 4*p.hidden)
	p.products.add(w, p.sums[lo:hi], p.h, p.hidden)
}

// step goes back through step i.
func (p *backPass[T]) step(w *par.Workspace, i int) {
	lo, hi := p.of(p.at(i, p.reverse), p.hidden)
	if p.ofY == nil {
		clear(p.h)
	} else {
		copy(p.h, p.ofY[lo:hi])
	}
	p.fromNext(w, i+1)
	if p.ofCells != nil {
		for k, v := range p.ofCells[lo:hi] {
			p.c[k] += v
		}
	}
	before := p.before
	if i > 0 {
		from, to := p.of(p.at(i-1, p.reverse), p.hidden)
		before = p.cells[from:to]
	}
	*p.job = backJob[T]{level: cpu.Host.Level, hidden: p.hidden, gates: p.gates[4*lo : 4*hi], before: before, cells: p.cells[lo:hi],
		h: p.h, c: p.c, sums: p.sums[4*lo : 4*hi]}
	if p.ofGates != nil {
		p.job.ofGates = p.ofGates[4*lo : 4*hi]
	}
	w.Parallel(p.batch, max(1, cellWork/p.hidden), p.job)
}

// backJob goes back through one step of every batch entry.
type backJob[T operand.Real] struct {
	level                cpu.Level
	hidden               int
	gates, before, cells []T
	ofGates              []T // the gradient of the gates; nil for none
	h, c, sums           []T
}

// Do goes back in batch entries [lo, hi).
func (j *backJob[T]) Do(lo, hi int) {
	n := j.hidden
	for b := lo; b < hi; b++ {
		at, end := b*n, (b+1)*n
		x, sums := j.gates[4*at:4*end], j.sums[4*at:4*end]
		if j.ofGates == nil && operand.IsFloat32[T]() && hasCells(j.level) {
			lstmCellBack32(j.level, operand.AsFloat32(x), operand.AsFloat32(j.before[at:end]), operand.AsFloat32(j.cells[at:end]),
				operand.AsFloat32(j.h[at:end]), operand.AsFloat32(j.c[at:end]), operand.AsFloat32(sums))
			continue
		}
		var more []T
		if j.ofGates != nil {
			more = j.ofGates[4*at : 4*end]
		}
		lstmCellBack(j.level, x, j.before[at:end], j.cells[at:end], j.h[at:end], j.c[at:end], sums, more)
	}
}

// lstmCellBack goes back through a step: x are its gates, before and cells the state before
// and after it, h the gradient of its output, c that of the state after it and then that of
// the state before it. sums is set to the gradient of the sums of the gates; ofGates, unless
// nil, is a gradient of the gates themselves. lstmCellBack32, whose twin it is, is
// within 2^-20 of it.
func lstmCellBack[T operand.Real](level cpu.Level, x, before, cells, h, c, sums, ofGates []T) {
	n := len(h)
	gateTanh(level, sums[3*n:4*n], cells)
	for k := range n {
		in, forget, cand, out := x[k], x[n+k], x[2*n+k], x[3*n+k]
		t := sums[3*n+k]
		dc := c[k] + T(T(h[k]*out)*(1-T(t*t)))
		di, df, dg, do := T(dc*cand), T(dc*before[k]), T(dc*in), T(h[k]*t)
		if ofGates != nil {
			di, df, dg, do = di+ofGates[k], df+ofGates[n+k], dg+ofGates[2*n+k], do+ofGates[3*n+k]
		}
		sums[k] = di * T((1-in)*in)
		sums[n+k] = df * T((1-forget)*forget)
		sums[2*n+k] = dg * (1 - T(cand*cand))
		sums[3*n+k] = do * T((1-out)*out)
		c[k] = dc * forget
	}
}
