package kernel

import (
	"math"
	"unsafe"
)

// Activation is the function that an epilogue ends with.
type Activation uint8

// The activations. All of them keep NaN.
const (
	ActNone  Activation = iota
	ActReLU             // max(x, 0)
	ActReLU6            // min(max(x, 0), 6)
	ActClamp            // min(max(x, Lo), Hi)
)

// Epilogue is what a step does to each sum before it is stored for good: times
// the scale of its channel, plus the bias of its channel, plus the residual,
// then the activation. Scale, bias and residual are operands of the step.
type Epilogue struct {
	Act    Activation
	Lo, Hi float32 // of ActClamp
}

// bounds returns the interval that the activation clamps to.
func (e Epilogue) bounds() (lo, hi float32) {
	inf := float32(math.Inf(1))
	switch e.Act {
	case ActReLU:
		return 0, inf
	case ActReLU6:
		return 0, 6
	case ActClamp:
		return e.Lo, e.Hi
	}
	return -inf, inf
}

// epilogue is an Epilogue with its operands, for a matrix. Absent ones are nil.
type epilogue struct {
	some              bool // there is anything to do
	scaleRow, biasRow []float32
	scaleCol, biasCol []float32
	residual          []float32
	ldr               int
	lo, hi            float32
}

// tileEpilogue is an epilogue for one tile. The assembly knows its layout.
type tileEpilogue struct {
	scaleRow, biasRow, scaleCol, biasCol, residual *float32
	ldr                                            int
	lo, hi                                         float32
}

// with sets the activation and, from the operands, whether there is any work.
func (e epilogue) with(s Epilogue) epilogue {
	e.lo, e.hi = s.bounds()
	e.some = s.Act != ActNone || e.scaleRow != nil || e.biasRow != nil || e.scaleCol != nil || e.biasCol != nil || e.residual != nil
	return e
}

// apply runs e over rows×cols elements of c, whose first is at (row, col) of
// the whole matrix.
func (e *epilogue) apply(l cpuLevel, rows, cols, row, col int, c []float32, ldc int) {
	if !e.some {
		return
	}
	t := tileEpilogue{lo: e.lo, hi: e.hi, ldr: e.ldr,
		scaleRow: span(e.scaleRow, row, rows), biasRow: span(e.biasRow, row, rows),
		scaleCol: span(e.scaleCol, col, cols), biasCol: span(e.biasCol, col, cols),
		residual: span(e.residual, row*e.ldr+col, (rows-1)*e.ldr+cols)}
	_ = c[(rows-1)*ldc+cols-1]
	epilogueTile32(l, rows, cols, c, ldc, &t)
}

// span returns the first of n elements from i on, nil of no operand.
func span(s []float32, i, n int) *float32 {
	if s == nil {
		return nil
	}
	return &s[i : i+n][0]
}

// epilogueTileGo is the twin of the assembly.
func epilogueTileGo(rows, cols int, c []float32, ldc int, e *tileEpilogue) {
	list := func(p *float32, n int) []float32 {
		if p == nil {
			return nil
		}
		return unsafe.Slice(p, n)
	}
	scaleRow, biasRow := list(e.scaleRow, rows), list(e.biasRow, rows)
	scaleCol, biasCol := list(e.scaleCol, cols), list(e.biasCol, cols)
	residual := list(e.residual, (rows-1)*e.ldr+cols)
	for i := range rows {
		for j, v := range c[i*ldc : i*ldc+cols] {
			if scaleRow != nil {
				v = float32(v * scaleRow[i])
			}
			if scaleCol != nil {
				v = float32(v * scaleCol[j])
			}
			if biasRow != nil {
				v += biasRow[i]
			}
			if biasCol != nil {
				v += biasCol[j]
			}
			if residual != nil {
				v += residual[i*e.ldr+j]
			}
			if v < e.lo {
				v = e.lo
			}
			if v > e.hi {
				v = e.hi
			}
			c[i*ldc+j] = v
		}
	}
}
