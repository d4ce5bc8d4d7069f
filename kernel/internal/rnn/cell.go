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
	n := j.hidden
	gates := recurrent{cell: j.kind}.gates() * n
	for b := lo; b < hi; b++ {
		row := j.row + b*j.rowStride
		h, x, y := j.h[b*n:(b+1)*n], j.fromX[row*gates:(row+1)*gates], j.y[row*j.yWidth+j.yAt:][:n]
		switch {
		case n == 0:
		case j.kind == cellLSTM && operand.IsFloat32[T]() && hasCells(j.level):
			lstmCell32(j.level, operand.AsFloat32(x), operand.AsFloat32(h), operand.AsFloat32(j.c[b*n:(b+1)*n]), operand.AsFloat32(y))
			continue
		case j.kind == cellGRU && operand.IsFloat32[T]() && hasCells(j.level):
			gruCell32(j.level, operand.AsFloat32(x), operand.AsFloat32(j.fromH[b*gates:(b+1)*gates]), operand.AsFloat32(h), operand.AsFloat32(y))
			continue
		case j.kind == cellLSTM:
			lstmCell(j.level, x, h, j.c[b*n:(b+1)*n])
		case j.kind == cellGRU:
			gruCell(j.level, x, j.fromH[b*gates:(b+1)*gates], h)
		case j.kind == cellTanh:
			gateTanh(j.level, h, x)
		default:
			for i, v := range x {
				if v < 0 {
					v = 0
				}
				h[i] = v
			}
		}
		copy(y, h)
	}
}

// lstmCell advances h and c by the sums x of the gates i, f, g, o. lstmCell32,
// whose twin it is, is within 2^-20 of it and sets y too.
func lstmCell[T operand.Real](level cpu.Level, x, h, c []T) {
	n := len(h)
	in, forget, cand, out := x[:n], x[n:2*n], x[2*n:3*n], x[3*n:4*n]
	gateSigmoid(level, x[:2*n], x[:2*n])
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

// gruCell advances h by the parts x and s of the gates r, z, n, which come of the
// input and of the state; gruCell32 computes it in f32, as lstmCell32 does for
// lstmCell.
func gruCell[T operand.Real](level cpu.Level, x, s, h []T) {
	n := len(h)
	for i, v := range s[:2*n] {
		x[i] += v
	}
	gateSigmoid(level, x[:2*n], x[:2*n])
	reset, update, cand := x[:n], x[n:2*n], x[2*n:3*n]
	for i, v := range s[2*n : 3*n] {
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
