package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Int8Linear is a linear layer with weights of 8 bits, (q-zero)·scale, widened in
// registers and computed in float32: in[0] is x [..., k] f32, f16 or bf16; in[1] the
// weight, u8 or i8 [n, k]; in[2] the scale f32, one or [n]; in[3] an optional zero point of
// the weight's type, one or [n]; in[4] an optional bias [n]. The result is [..., n] of a
// type x may have. Sums are of integers times x: scales and zero points come last.
//
//gofx:kernel
type Int8Linear struct{}

// ScratchBytes implements Scratcher.
func (Int8Linear) ScratchBytes(out, in []*array.Array) int {
	x := in[0]
	n, k := out[0].Dim(-1), x.Dim(-1)
	rows := x.Len() / max(k, 1)
	return operand.LoadAllBytes([]*array.Array{x, in[1], in[2], operand.At(in, 3), operand.At(in, 4)}) + operand.StoreBytes(out[0]) +
		par.ScratchSize(rows, 4) + wideScratch(rows, n, k) + spreadBytes(rows, k, byteMost)
}

// Run implements Step.
func (Int8Linear) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "int8_linear"
	x, weight, scale, zero := in[0], in[1], in[2], operand.At(in, 3)
	d := weight.DType()
	m, n, k := linearSizes(step, out[0], x, weight, d == array.U8 || d == array.I8, "u8 or i8")
	if scale.Len() != 1 && scale.Len() != n || scale.DType() != array.F32 ||
		zero != nil && (zero.Len() != 1 && zero.Len() != n || zero.DType() != d) {
		operand.BadOperand(step, "the scale is not one f32 or one for each row of the weight, or the zero point not so of the weight's type")
	}
	if m*n == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[int8Job](w)
	*j = int8Job{product: product{m: m, n: n, k: k, x: operand.Load[float32](w, x), dst: operand.Result[float32](w, out[0])},
		weight: bytesOfArray(w, weight), signed: weight.DType() == array.I8, scale: operand.LoadSame[float32](w, scale)}
	if zero != nil {
		j.zero = bytesOfArray(w, zero)
	}
	if k == 0 {
		clear(j.dst)
	} else {
		j.run(w)
	}
	addBias(j.dst, linearBias(w, step, operand.At(in, 4), n))
	operand.Store(out[0], j.dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// mostByteRows is up to how many rows bytes are widened in registers: scratch is stated for more on every machine.
func mostByteRows() int {
	if half.ByteDotRows() < byteRows {
		return unpackMost
	}
	return byteMost
}

// bytesOfArray returns the elements of an array of bytes in row-major order, i8 as
// their bits.
func bytesOfArray(w *par.Workspace, a *array.Array) []uint8 {
	if a.DType() == array.I8 {
		return half.Unsigned(operand.LoadSame[int8](w, a))
	}
	return operand.LoadSame[uint8](w, a)
}

// int8Job is a product with weights of 8 bits.
type int8Job struct {
	product
	weight []uint8
	signed bool
	scale  []float32
	zero   []uint8
	sums   []float32 // of each row of x, for zero points
}

func (j *int8Job) run(w *par.Workspace) {
	if j.zero != nil {
		j.sums = par.Scratch[float32](w, j.m)
		for r := range j.sums {
			groupSums(j.sums[r:r+1], j.x[r*j.k:(r+1)*j.k])
		}
	}
	j.product.run(w, j, mostByteRows())
}

// Do computes columns [lo, hi), or widens them. A part of the columns meets all rows, as many at a time as
// have sums in registers, while the second cache has it.
func (j *int8Job) Do(lo, hi int) {
	if j.wide != nil {
		half.WidenBytes(j.wide[lo*j.k:hi*j.k], j.weight[(j.first+lo)*j.k:(j.first+hi)*j.k], j.signed)
		return
	}
	cols, passes := partOf(j.k), (j.m+half.ByteDotRows()-1)/half.ByteDotRows()
	for c := lo; c < hi; c += cols {
		for r, left := 0, passes; left > 0; left-- {
			rows := (j.m - r + left - 1) / left
			j.rows(r, rows, c, min(cols, hi-c))
			r += rows
		}
	}
}

// rows computes n columns from c on of up to half.ByteDotRows rows; see int4Job.rows.
func (j *int8Job) rows(r, rows, c, n int) {
	var part [byteRows * unpackPart]float32
	step := j.k
	if rows > 1 {
		step = byteStep(j.k)
	}
	for p := 0; p < j.k; p += step {
		half.DotBytes(n, rows, min(step, j.k-p), j.x[r*j.ldx+p:], j.ldx, j.weight[c*j.k+p:], j.k, j.signed, part[:], unpackPart)
		addPart(j.dst[r*j.n+c:], j.n, part[:], rows, n, p == 0)
	}
	j.finish(r, rows, c, n)
}

// byteStep is how much of k several rows take at a time: equal parts of up to byteDepth, whole blocks of any kernel.
func byteStep(k int) int {
	parts := (k + byteDepth - 1) / byteDepth
	return ((k+parts-1)/parts + 63) &^ 63
}

// partOf is how many columns of so many bytes a second cache keeps while all rows meet them.
func partOf(k int) int { return max(8, min(unpackPart, partBytes/k)) }

// finish makes results of sums of integers times x, for rows from r on and n columns from
// c on.
func (j *int8Job) finish(r, rows, c, n int) {
	scale, by := j.scale, 0
	if len(scale) > 1 {
		scale, by = scale[c:], 1
	}
	for ; rows > 0; r, rows = r+1, rows-1 {
		d := j.dst[r*j.n+c : r*j.n+c+n]
		if j.zero != nil {
			j.takeZeros(d, c, j.sums[r])
		}
		for i := range d {
			d[i] *= scale[i*by]
		}
	}
}

// takeZeros takes zero points times the sum of a row of x from sums of n columns from c on.
func (j *int8Job) takeZeros(d []float32, c int, sum float32) {
	zero, by := j.zero, 0
	if len(zero) > 1 {
		zero, by = zero[c:], 1
	}
	if j.signed {
		for i := range d {
			d[i] -= float32(float32(int8(zero[i*by])) * sum)
		}
		return
	}
	for i := range d {
		d[i] -= float32(float32(zero[i*by]) * sum)
	}
}
