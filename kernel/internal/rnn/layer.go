package rnn

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// LSTMLayer is one layer of LSTM in one direction, which keeps what its gradient needs.
// Operands: x [T, N, I], h0 and c0 [N, H], w_ih [4H, I], w_hh [4H, H], b_ih and b_hh [4H];
// the states and biases may be nil. Results: output [T, N, H], and, each of which may be
// nil, the cells after each step [T, N, H] and the gates i, f, g, o of each step
// [T, N, 4H]. Float element types.
//
//gofx:kernel
type LSTMLayer struct {
	Reverse bool // from the last step to the first
}

// Run implements Step.
func (s LSTMLayer) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		runLayer[float64](w, s.Reverse, out, in)
	} else {
		runLayer[float32](w, s.Reverse, out, in)
	}
}

// ScratchBytes implements Scratcher.
func (s LSTMLayer) ScratchBytes(out, in []*array.Array) int {
	l, features := layerOf(in[0].Dim(0), out[0]), in[0].Dim(2)
	size := operand.ComputeSize(out[0].DType())
	n := operand.LoadAllBytes(in) + operand.StoreBytes(out[0]) + par.ScratchSize(l.batch*l.hidden, size)
	n += keptBytes(operand.At(out, 1), l.rows()*l.hidden, size) + keptBytes(operand.At(out, 2), l.rows()*4*l.hidden, size)
	if size == 8 {
		return n + max(gemm.Scratch[float64](l.rows(), 4*l.hidden, features), gemm.Scratch[float64](l.batch, 4*l.hidden, l.hidden))
	}
	return n + max(gemm.Scratch[float32](l.rows(), 4*l.hidden, features), stepScratch(l.batch, 4*l.hidden, l.hidden))
}

// Cuts implements Cutter: along the batch, of x, the states and all results.
func (s LSTMLayer) Cuts(out, in [][]int) []par.Cut { return alongBatch(out, in, 1, 3) }

// alongBatch cuts along the batch: dimension 1 of what has all steps, and dimension 0 of
// states, which are operands lo to hi. Weights stay whole.
func alongBatch(out, in [][]int, lo, hi int) []par.Cut {
	c := par.Cut{In: par.AllWhole(len(in)), Size: in[0][1]}
	for i, d := range in {
		switch {
		case len(d) == 3:
			c.In[i] = 1
		case len(d) == 2 && i >= lo && i < hi:
			c.In[i] = 0
		}
	}
	for _, d := range out {
		c.Out = append(c.Out, max(len(d)-2, 0))
	}
	return []par.Cut{c}
}

// keptBytes is the scratch for a result: for all of it where nobody asks for it.
func keptBytes(a *array.Array, n, size int) int {
	if a == nil {
		return par.ScratchSize(n, size)
	}
	return operand.StoreBytes(a)
}

// kept is the memory of a result, scratch where nobody asks for it.
func kept[T operand.Real](w *par.Workspace, a *array.Array, n int) []T {
	if a == nil {
		return par.Scratch[T](w, n)
	}
	return operand.Result[T](w, a)
}

// layer has the sizes of a layer.
type layer struct{ steps, batch, hidden int }

// layerOf returns the sizes of a layer with results like out.
func layerOf(steps int, out *array.Array) layer { return layer{steps, out.Dim(1), out.Dim(2)} }

func (l layer) rows() int { return l.steps * l.batch }

// at is step i in the order in which they are taken.
func (l layer) at(i int, reverse bool) int {
	if reverse {
		return l.steps - 1 - i
	}
	return i
}

// of returns what belongs to step t, width floats for each entry of the batch.
func (l layer) of(t, width int) (lo, hi int) { return t * l.batch * width, (t + 1) * l.batch * width }

func runLayer[T operand.Real](w *par.Workspace, reverse bool, out, in []*array.Array) {
	l := layerOf(in[0].Dim(0), out[0])
	if l.rows()*l.hidden == 0 {
		return
	}
	mark := w.Mark()
	width, features := 4*l.hidden, in[0].Dim(2)
	y, cells, gates := operand.Result[T](w, out[0]), kept[T](w, operand.At(out, 1), l.rows()*l.hidden), kept[T](w, operand.At(out, 2), l.rows()*width)
	x, h, c := operand.Load[T](w, in[0]), operand.Load[T](w, operand.At(in, 1)), operand.Load[T](w, operand.At(in, 2))
	zeros := par.Scratch[T](w, l.batch*l.hidden)
	clear(zeros)
	if h == nil {
		h = zeros
	}
	if c == nil {
		c = zeros
	}
	wx, wh := operand.Load[T](w, in[3]), operand.Load[T](w, in[4])
	bx, bh := operand.Load[T](w, operand.At(in, 5)), operand.Load[T](w, operand.At(in, 6))
	if bx == nil {
		bx, bh = bh, nil
	}
	fillRows(w, gates, bx, bh, width)
	if features > 0 {
		gemm.Gemm(w, false, true, l.rows(), width, features, x, features, wx, features, gates, width, true)
	}
	r := newRecurrence(w, l.batch, width, l.hidden, wh, true)
	j := par.TakeJob[keptJob[T]](w)
	for i := range l.steps {
		t := l.at(i, reverse)
		lo, hi := l.of(t, l.hidden)
		*j = keptJob[T]{level: cpu.Host.Level, hidden: l.hidden, gates: gates[lo*4 : hi*4], before: c, cells: cells[lo:hi], y: y[lo:hi]}
		r.add(w, h, j.gates, width)
		w.Parallel(l.batch, max(1, cellWork/l.hidden), j)
		h, c = j.y, j.cells
	}
	par.PutJob(w, j)
	r.end(w)
	operand.Store(out[0], y)
	operand.Store(operand.At(out, 1), cells)
	operand.Store(operand.At(out, 2), gates)
	w.Release(mark)
}

// keptJob advances the state of every batch entry by one step, from the cells before it.
// The gates take the places of their sums.
type keptJob[T operand.Real] struct {
	level                   cpu.Level
	hidden                  int
	gates, before, cells, y []T
}

// Do advances batch entries [lo, hi).
func (j *keptJob[T]) Do(lo, hi int) {
	n := j.hidden
	for b := lo; b < hi; b++ {
		x, c, next, y := j.gates[4*b*n:4*(b+1)*n], j.before[b*n:(b+1)*n], j.cells[b*n:(b+1)*n], j.y[b*n:(b+1)*n]
		if operand.IsFloat32[T]() && hasCells(j.level) {
			lstmCellKept32(j.level, operand.AsFloat32(x), operand.AsFloat32(c), operand.AsFloat32(next), operand.AsFloat32(y))
			continue
		}
		copy(next, c)
		lstmCell(j.level, x, n, y, next)
	}
}
