package kernel

import (
	"unsafe"
)

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

// channels returns the epilogue of m output channels from first on, whose
// planes begin at element `at` of the residual.
func (e epilogue) channels(first, m, at int) epilogue {
	if e.scaleRow != nil {
		e.scaleRow = e.scaleRow[first : first+m]
	}
	if e.biasRow != nil {
		e.biasRow = e.biasRow[first : first+m]
	}
	if e.residual != nil {
		e.residual = e.residual[at:]
	}
	return e
}
