package gemm

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Finish is an Epilogue with its operands, for a matrix. Absent ones are nil.
type Finish struct {
	Some              bool // there is anything to do before the program
	ScaleRow, BiasRow []float32
	scaleCol, biasCol []float32
	Residual          []float32
	Ldr               int
	Lo, Hi            float32
	program           operand.Function
}

// TileEpilogue is an epilogue for one tile. The assembly knows its layout.
type TileEpilogue struct {
	ScaleRow, BiasRow, scaleCol, biasCol, Residual *float32
	Ldr                                            int
	Lo, Hi                                         float32
}

// With sets the activation, the program and, from the operands, whether there is any work.
func (e Finish) With(s operand.Epilogue) Finish {
	e.Lo, e.Hi = s.Bounds()
	e.program = s.Program
	e.Some = s.Act != operand.ActNone || e.ScaleRow != nil || e.BiasRow != nil || e.scaleCol != nil || e.biasCol != nil || e.Residual != nil
	return e
}

// Apply runs e, except its program, over rows×cols elements of c, whose first is at
// (row, col) of the whole matrix.
func (e *Finish) Apply(l cpu.Level, rows, cols, row, col int, c []float32, ldc int) {
	if !e.Some {
		return
	}
	t := TileEpilogue{Lo: e.Lo, Hi: e.Hi, Ldr: e.Ldr,
		ScaleRow: operand.Span(e.ScaleRow, row, rows), BiasRow: operand.Span(e.BiasRow, row, rows),
		scaleCol: operand.Span(e.scaleCol, col, cols), biasCol: operand.Span(e.biasCol, col, cols),
		Residual: operand.Span(e.Residual, row*e.Ldr+col, (rows-1)*e.Ldr+cols)}
	_ = c[(rows-1)*ldc+cols-1]
	epilogueTile32(l, rows, cols, c, ldc, &t)
}

// Maps reports whether e has a program.
func (e *Finish) Maps() bool { return e.program != nil }

// Map runs the program of e, where it has one, over rows×cols elements of c that
// everything before it has been done to. Rows that are shorter than a few vectors are
// brought together first, which takes as long again: those of tiles are left to MapAll.
func (e *Finish) Map(rows, cols int, c []float32, ldc int) {
	if e.program != nil {
		e.program.Map(rows, cols, c, ldc)
	}
}

// MapAll is Map of elements side by side, shared out to threads.
func (e *Finish) MapAll(w *par.Workspace, c []float32) {
	if e.program != nil {
		e.program.MapAll(w, c)
	}
}

// list returns the n numbers at p, nil when there are none. It is called once a
// tile: no reason to inline it five times.
//
//go:noinline
func list(p *float32, n int) []float32 {
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, n)
}

// EpilogueTile applies e to a tile as the level does.
func EpilogueTile(l cpu.Level, rows, cols int, c []float32, ldc int, e *TileEpilogue) {
	epilogueTile32(l, rows, cols, c, ldc, e)
}

// EpilogueTileGo is the twin of the assembly. A tile has just been computed and is
// still in the first cache, so all that follows sums is done in one pass over it.
func EpilogueTileGo(rows, cols int, c []float32, ldc int, e *TileEpilogue) {
	scaleRow, biasRow := list(e.ScaleRow, rows), list(e.BiasRow, rows)
	scaleCol, biasCol := list(e.scaleCol, cols), list(e.biasCol, cols)
	residual := list(e.Residual, (rows-1)*e.Ldr+cols)
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
				v += residual[i*e.Ldr+j]
			}
			if v < e.Lo {
				v = e.Lo
			}
			if v > e.Hi {
				v = e.Hi
			}
			c[i*ldc+j] = v
		}
	}
}

// Channels returns the epilogue of m output channels from first on, whose
// planes begin at element `at` of the residual.
func (e Finish) Channels(first, m, at int) Finish {
	if e.ScaleRow != nil {
		e.ScaleRow = e.ScaleRow[first : first+m]
	}
	if e.BiasRow != nil {
		e.BiasRow = e.BiasRow[first : first+m]
	}
	if e.Residual != nil {
		e.Residual = e.Residual[at:]
	}
	return e
}

// All runs e over a whole m×n matrix that no tile has finished.
func (e *Finish) All(w *par.Workspace, l cpu.Level, m, n int, c []float32, ldc int) {
	if !e.Some && e.program == nil {
		return
	}
	j := par.TakeJob[finishJob](w)
	*j = finishJob{Finish: *e, level: l, m: m, n: n, c: c, ldc: ldc}
	w.Parallel((n-1)/finishCols+1, max(1, par.SimdPack/(finishCols*m)), j)
	par.PutJob(w, j)
}

// finishJob is an epilogue over a whole matrix.
type finishJob struct {
	Finish
	level     cpu.Level
	m, n, ldc int
	c         []float32
}

// Do runs it over columns [lo, hi), in units of finishCols.
func (j *finishJob) Do(lo, hi int) {
	lo, hi = lo*finishCols, min(hi*finishCols, j.n)
	j.Apply(j.level, j.m, hi-lo, 0, lo, j.c[lo:], j.ldc)
	j.Map(j.m, hi-lo, j.c[lo:], j.ldc)
}
