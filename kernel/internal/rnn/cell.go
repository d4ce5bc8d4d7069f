package rnn

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

//go:generate go run -C ../../../internal/generators/asmgen ./rnn

// cellJob advances the state of every batch entry by one step. fromX has the
// contribution of the input and, unless the cell needs it apart, of the state;
// it is overwritten.
type cellJob[T operand.Real] struct {
	kind           cellKind
	level          cpu.Level
	hidden         int
	fromX, fromH   []T
	h, c, y        []T
	row, rowStride int // rows of fromX and y that belong to this step
	yWidth, yAt    int
}

// Do advances batch entries [lo, hi). All gates of an entry are read together with
// its state, in one pass over the units, right after the product wrote them.
func (j *cellJob[T]) Do(lo, hi int) {
	for b := lo; b < hi; b++ {
		j.units(b, 0, j.hidden, j.h)
	}
}

// units advances units [lo, hi) of batch entry b, whose state is in h.
func (j *cellJob[T]) units(b, lo, hi int, h []T) {
	if lo == hi {
		return
	}
	n := j.hidden
	gates := recurrent{cell: j.kind}.gates() * n
	row := j.row + b*j.rowStride
	x, y := j.fromX[row*gates+lo:(row+1)*gates], j.y[row*j.yWidth+j.yAt+lo:][:hi-lo]
	lo, hi = b*n+lo, b*n+hi
	h = h[lo:hi]
	switch {
	case j.kind == cellLSTM && operand.IsFloat32[T]() && hasCells(j.level):
		lstmCell32(j.level, operand.AsFloat32(x), n, operand.AsFloat32(h), operand.AsFloat32(j.c[lo:hi]), operand.AsFloat32(y))
		return
	case j.kind == cellGRU && operand.IsFloat32[T]() && hasCells(j.level):
		gruCell32(j.level, operand.AsFloat32(x), operand.AsFloat32(j.state(b, lo)), n, operand.AsFloat32(h), operand.AsFloat32(y))
		return
	case j.kind == cellLSTM:
		lstmCell(j.level, x, n, h, j.c[lo:hi])
	case j.kind == cellGRU:
		gruCell(j.level, x, j.state(b, lo), n, h)
	case j.kind == cellTanh:
		gateTanh(j.level, h, x[:len(h)])
	default:
		for i, v := range x[:len(h)] {
			if v < 0 {
				v = 0
			}
			h[i] = v
		}
	}
	copy(y, h)
}

// state is what comes of the state for the gates of batch entry b, from the unit at place at of h on.
func (j *cellJob[T]) state(b, at int) []T {
	gates := recurrent{cell: j.kind}.gates() * j.hidden
	return j.fromH[b*gates+at-b*j.hidden : (b+1)*gates]
}

// lstmCell advances h and c by the sums x of the gates i, f, g, o, gate elements apart.
// lstmCell32, whose twin it is, is within 2^-20 of it and sets y too.
func lstmCell[T operand.Real](level cpu.Level, x []T, gate int, h, c []T) {
	n := len(h)
	in, forget, cand, out := x[:n], x[gate:gate+n], x[2*gate:2*gate+n], x[3*gate:3*gate+n]
	gateSigmoid(level, in, in)
	gateSigmoid(level, forget, forget)
	gateTanh(level, cand, cand)
	gateSigmoid(level, out, out)
	for i, v := range c {
		c[i] = T(forget[i]*v) + T(in[i]*cand[i])
	}
	gateTanh(level, h, c)
	for i, v := range out {
		h[i] *= v
	}
}

// gruCell advances h by the parts x and s of the gates r, z, n, gate elements apart, which come
// of the input and of the state; gruCell32 computes it in f32, as lstmCell32 does for
// lstmCell.
func gruCell[T operand.Real](level cpu.Level, x, s []T, gate int, h []T) {
	n := len(h)
	reset, update, cand := x[:n], x[gate:gate+n], x[2*gate:2*gate+n]
	for i, v := range s[:n] {
		reset[i] += v
	}
	for i, v := range s[gate : gate+n] {
		update[i] += v
	}
	gateSigmoid(level, reset, reset)
	gateSigmoid(level, update, update)
	for i, v := range s[2*gate : 2*gate+n] {
		cand[i] += T(reset[i] * v)
	}
	gateTanh(level, cand, cand)
	for i, v := range cand {
		h[i] = T((h[i]-v)*update[i]) + v
	}
}

// gateSigmoid sets dst to 1/(1+exp(-x)).
func gateSigmoid[T operand.Real](level cpu.Level, dst, x []T) {
	gate(level, opcode.OpSigmoid, vmath.Sigmoid64, dst, x)
}

// gateTanh sets dst to tanh(x).
func gateTanh[T operand.Real](level cpu.Level, dst, x []T) {
	gate(level, opcode.OpTanh, math.Tanh, dst, x)
}

// gate applies a function: in f32 by its own code, else by its f64 form.
func gate[T operand.Real](level cpu.Level, code opcode.Code, f func(float64) float64, dst, x []T) {
	if operand.IsFloat32[T]() {
		vmath.ApplyFunction(level, code, operand.AsFloat32(dst), operand.AsFloat32(x))
		return
	}
	for i, v := range x {
		dst[i] = T(f(float64(v)))
	}
}
