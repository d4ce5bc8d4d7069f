package kernel

import "math"

//go:generate go run -C ../internal/asmgen ./seq

// cellJob advances the state of every batch entry by one step. fromX has what
// comes of the input and, unless the cell needs it apart, of the state; it is
// overwritten.
type cellJob[T real] struct {
	kind           cellKind
	level          cpuLevel
	hidden         int
	fromX, fromH   []T
	h, c, y        []T
	row, rowStride int // rows of fromX and y that belong to this step
	yWidth, yAt    int
}

// Do advances batch entries [lo, hi).
func (j *cellJob[T]) Do(lo, hi int) {
	n := j.hidden
	gates := recurrent{cell: j.kind}.gates() * n
	for b := lo; b < hi; b++ {
		row := j.row + b*j.rowStride
		h, x, y := j.h[b*n:(b+1)*n], j.fromX[row*gates:(row+1)*gates], j.y[row*j.yWidth+j.yAt:][:n]
		switch {
		case n == 0:
		case j.kind == cellLSTM && isFloat32[T]() && hasCells(j.level):
			lstmCell32(j.level, asFloat32(x), asFloat32(h), asFloat32(j.c[b*n:(b+1)*n]), asFloat32(y))
			continue
		case j.kind == cellGRU && isFloat32[T]() && hasCells(j.level):
			gruCell32(j.level, asFloat32(x), asFloat32(j.fromH[b*gates:(b+1)*gates]), asFloat32(h), asFloat32(y))
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
func lstmCell[T real](level cpuLevel, x, h, c []T) {
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
// input and of the state; gruCell32 is to it what lstmCell32 is to lstmCell.
func gruCell[T real](level cpuLevel, x, s, h []T) {
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
func gateSigmoid[T real](level cpuLevel, dst, x []T) {
	if isFloat32[T]() {
		applyFunction(level, OpSigmoid, asFloat32(dst), asFloat32(x))
		return
	}
	for i, v := range x {
		dst[i] = T(sigmoid64(float64(v)))
	}
}

// gateTanh sets dst to tanh(x).
func gateTanh[T real](level cpuLevel, dst, x []T) {
	if isFloat32[T]() {
		applyFunction(level, OpTanh, asFloat32(dst), asFloat32(x))
		return
	}
	for i, v := range x {
		dst[i] = T(math.Tanh(float64(v)))
	}
}
