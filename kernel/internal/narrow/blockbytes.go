package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BlockLinearDynamic is BlockLinear, for formats whose weights are integers times scales (Q8_0, Q4_0, Q4_1, Q5_0, Q5_1,
// Q4_K, Q5_K or Q6_K), with x rounded to 8 bits first: in each 32 elements of a row to multiples of the largest size
// divided by 127. Products are summed as integers, and these sums scaled. The result has the same bits on every
// processor, for any number of rows and threads.
//
//gofx:kernel
type BlockLinearDynamic struct{ Format string }

// ScratchBytes implements Scratcher.
func (s BlockLinearDynamic) ScratchBytes(out, in []*array.Array) int {
	x := in[0]
	k := x.Dim(-1)
	rows := x.Len() / max(k, 1)
	return operand.LoadAllBytes([]*array.Array{x, in[1], operand.At(in, 2)}) + operand.StoreBytes(out[0]) + par.ScratchSize(rows*half.ByteRow(k), 1)
}

// Run implements Step.
func (s BlockLinearDynamic) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "block_linear_dynamic"
	l := linearOf(step, s.Format, out, in)
	if !l.format.HasIntegers() {
		operand.BadOperand(step, "the weights of the format are no integers")
	}
	if l.m*l.n == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[byteJob](w)
	*j = byteJob{blockSizes: l, x: operand.Load[float32](w, in[0]), dst: operand.Result[float32](w, out[0]), weight: operand.LoadSame[uint8](w, in[1])}
	j.run(w)
	addBias(j.dst, linearBias(w, step, operand.At(in, 2), l.n))
	operand.Store(out[0], j.dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// byteJob is a product in progress; rounded is nil while x is being rounded.
type byteJob struct {
	blockSizes
	x, dst          []float32
	weight, rounded []uint8
	each            int // bytes of a rounded row
	rounding        bool
}

func (j *byteJob) run(w *par.Workspace) {
	if j.k == 0 {
		clear(j.dst)
		return
	}
	j.each = half.ByteRow(j.k)
	j.rounded, j.rounding = par.Scratch[uint8](w, j.m*j.each), true
	w.Parallel(j.m, max(1, par.PackWork/j.k), j)
	j.rounding = false
	w.Parallel((j.n+byteUnit-1)/byteUnit, max(1, par.GemmWork/(j.m*j.k*byteUnit)), j)
}

// Do rounds rows [lo, hi) of x, or computes units [lo, hi) of columns.
func (j *byteJob) Do(lo, hi int) {
	if j.rounding {
		for r := lo; r < hi; r++ {
			half.RoundRow(j.format, j.rounded[r*j.each:(r+1)*j.each], j.x[r*j.k:(r+1)*j.k])
		}
		return
	}
	lo, hi = lo*byteUnit, min(hi*byteUnit, j.n)
	for c := lo; c < hi; c += byteUnit {
		n := min(byteUnit, hi-c)
		for r := 0; r < j.m; {
			rows := half.RowsAtOnce(j.m - r)
			j.some(r, rows, c, n)
			r += rows
		}
	}
}

// some computes n columns from c on, of one row or several.
func (j *byteJob) some(r, rows, c, n int) {
	d := half.ByteDots{N: n, Rows: rows, K: j.k, X: j.rounded[r*j.each:], LdX: j.each, W: j.weight[c*j.row:], LdW: j.row, Dst: j.dst[r*j.n+c:]}
	if rows == 1 {
		d.Run(j.format)
		return
	}
	j.several(&d, r, c)
}

// several computes rows whose results are copied.
func (j *byteJob) several(d *half.ByteDots, r, c int) {
	var part [half.ByteRows * half.ByteColumns]float32
	d.Dst = part[:]
	d.Run(j.format)
	for i := range d.Rows {
		copy(j.dst[(r+i)*j.n+c:][:d.N], part[i*half.ByteColumns:])
	}
}
