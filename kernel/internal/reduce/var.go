package reduce

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
)

// Var is the variance over Dims (all when empty): the sum of squared deviations
// from the mean, divided by the element count less Correction, in float64 and
// two passes. Root takes its square root before it is rounded to the type of the
// result. A second output, where there is one, receives the mean.
//
//gofx:kernel
type Var struct {
	Dims       []int
	Correction float64
	Root       bool
}

// ScratchBytes implements Scratcher.
func (v Var) ScratchBytes(out, in []*array.Array) int {
	d := reduceType(array.F64, in[0].DType())
	return move.AsBytes(in[0], d) + 2*par.ScratchSize(out[0].Len(), 8)
}

// Run implements Step.
func (v Var) Run(w *par.Workspace, out, in []*array.Array) {
	var g Groups
	g.Init("var", in[0].Shape(), v.Dims)
	if move.ScalarOf(in[0].DType()) == array.F32 {
		variance[float32](w, v, out, in[0], &g)
	} else {
		variance[float64](w, v, out, in[0], &g)
	}
}

func variance[T float32 | float64](w *par.Workspace, v Var, out []*array.Array, a *array.Array, g *Groups) {
	defer w.Release(w.Mark())
	x := move.LoadAs[T](w, a)
	mean, sq := par.Scratch[float64](w, g.OutLen), par.Scratch[float64](w, g.OutLen)
	clear(mean)
	clear(sq)
	reduceInto(redSum, mean, x, g)
	for i := range mean {
		mean[i] = meanOf(mean[i], g.Count)
	}
	squaresInto(sq, mean, x, g)
	div := max(float64(g.Count)-v.Correction, 0)
	for i := range sq {
		if sq[i] /= div; v.Root {
			sq[i] = math.Sqrt(sq[i])
		}
	}
	move.SaveAs(out[0], sq)
	if len(out) > 1 {
		move.SaveAs(out[1], mean)
	}
}

// squaresInto adds the squares of the elements of row-major x less their means. x
// is read once more, in order, as the sums were; a block is columns with sums of
// their own, or whole rows.
func squaresInto[T float32 | float64](sq, mean []float64, x []T, g *Groups) {
	if len(x) == 0 {
		return
	}
	n, rows, kept, outer := g.Block()
	f, isF32 := any(x).([]float32)
	var at [operand.MaxRank]int
	for o, p := 0, 0; p < len(x); p += rows * n {
		switch {
		case kept && isF32:
			foldBlock(cpu.Host.Level, rowcol.FoldSquares, sq[o:o+n], mean[o:o+n], f[p:], n, rows)
		case kept:
			for i, e := range x[p : p+rows*n] {
				d := float64(e) - mean[o+i%n]
				sq[o+i%n] += float64(d * d)
			}
		case isF32:
			rowcol.RowsSquares(cpu.Host.Level, sq[o:o+rows], mean[o:], f[p:], n, rowcol.RowsAhead(n, rows))
		default:
			for r := range rows {
				sq[o+r] += squaresRun(x[p+r*n:p+(r+1)*n], mean[o+r])
			}
		}
		o = outer.next(&at, o)
	}
}

// squaresRun is sumRun of the squared deviations from mean.
func squaresRun[T float32 | float64](x []T, mean float64) float64 {
	if len(x) > sumBlock {
		h := (len(x)/2 + sumBlock - 1) / sumBlock * sumBlock
		return squaresRun(x[:h], mean) + squaresRun(x[h:], mean)
	}
	var a, b float64
	for ; len(x) >= 2; x = x[2:] {
		d, e := float64(x[0])-mean, float64(x[1])-mean
		a += float64(d * d)
		b += float64(e * e)
	}
	if len(x) > 0 {
		d := float64(x[0]) - mean
		a += float64(d * d)
	}
	return a + b
}
