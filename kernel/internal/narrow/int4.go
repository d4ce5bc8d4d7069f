package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Int4PackedBytes is the length of the u8 vector that PackInt4 writes for
// weights of n rows and k columns in groups of Group.
//
//gofx:kernel
func Int4PackedBytes(n, k, group int) int {
	checkGroup("pack_int4", group)
	if k < 0 || n < 0 {
		operand.BadOperand("pack_int4", "a size is negative")
	}
	size, ok := array.NumElems([]int{n, groupsOf(k, group), group})
	if !ok {
		operand.BadOperand("pack_int4", "the weight is too large")
	}
	return size / 2
}

func groupsOf(k, group int) int { return (k + group - 1) / group }

func checkGroup(step string, group int) {
	if group < half.UnpackBlock || group%half.UnpackBlock != 0 || group > 1<<20 {
		operand.BadOperand(step, "the group is not a multiple of 32")
	}
}

// PackInt4 lays out 4-bit weights for Int4Linear: in[0] is u8 [n, ceil(k/2)], two
// weights a byte, the even one in the lower half; out[0] is a vector of
// Int4PackedBytes. What pads k to whole groups weighs nothing.
//
//gofx:kernel
type PackInt4 struct{ K, Group int }

// Packed implements Packer.
func (s PackInt4) Packed(weight *array.Array) (array.DType, []int) {
	return array.U8, []int{Int4PackedBytes(weight.Dim(0), s.K, s.Group)}
}

// ScratchBytes implements Scratcher.
func (PackInt4) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// Run implements Step.
func (s PackInt4) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "pack_int4"
	checkGroup(step, s.Group)
	if in[0].Rank() != 2 || s.K < 0 || in[0].Dim(1) != (s.K+1)/2 || in[0].DType() != array.U8 {
		operand.BadOperand(step, "the weight is not u8 [n, ceil(k/2)]")
	}
	n, dst := in[0].Dim(0), array.Data[uint8](out[0])
	if len(dst) != Int4PackedBytes(n, s.K, s.Group) {
		operand.BadOperand(step, "the packed weight has another length")
	}
	mark := w.Mark()
	packInt4(dst, operand.LoadSame[uint8](w, in[0]), n, s.K, groupsOf(s.K, s.Group)*s.Group)
	w.Release(mark)
}

// packInt4 lays rows of k weights out in blocks of 32, padded to full: byte i of a
// block holds weights i and i+16. So a vector of bytes gives two runs of weights
// by a mask and a shift, without a shuffle.
func packInt4(dst, src []uint8, n, k, full int) {
	for i := range dst {
		dst[i] = 0x88
	}
	for c := range n {
		row, from := dst[c*full/2:(c+1)*full/2], src[c*((k+1)/2):]
		for p := range k {
			v := from[p/2] >> (4 * (p % 2)) & 15
			b := &row[p/half.UnpackBlock*16+p%16]
			if p%half.UnpackBlock < 16 {
				*b = *b&0xf0 | v
			} else {
				*b = *b&0x0f | v<<4
			}
		}
	}
}

// Int4Linear is a linear layer with weights of 4 bits, (q-zero)·scale for each
// group of Group weights of a row, as in ONNX Runtime's MatMulNBits, unpacked in
// registers and computed in float32. Group is a multiple of 32. in[0] is x
// [..., k] f32, f16 or bf16; in[1] the weight, u8 [n, ceil(k/2)], or with Packed
// what PackInt4 wrote; in[2] the scales f32 [n, groups]; in[3] optional zero points
// u8 [n, groups] below 16, 8 without them; in[4] an optional bias [n]. The result
// is [..., n] of a type x may have.
//
//gofx:kernel
type Int4Linear struct {
	Group  int
	Packed bool
}

// ScratchBytes implements Scratcher.
func (s Int4Linear) ScratchBytes(out, in []*array.Array) int {
	x := in[0]
	n, k := out[0].Dim(-1), x.Dim(-1)
	checkGroup("int4_linear", s.Group)
	groups := groupsOf(k, s.Group)
	rows := x.Len() / max(k, 1)
	return operand.LoadAllBytes([]*array.Array{x, operand.At(in, 1), operand.At(in, 2), operand.At(in, 3), operand.At(in, 4)}) +
		operand.StoreBytes(out[0]) + par.ScratchSize(Int4PackedBytes(n, k, s.Group), 1) +
		par.ScratchSize(rows*groups*s.Group, 4) + par.ScratchSize(rows*groups, 4) + wideScratch(rows, n, groups*s.Group) + spreadBytes(rows, groups*s.Group)
}

// Run implements Step.
func (s Int4Linear) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "int4_linear"
	checkGroup(step, s.Group)
	x, weight, scale, zero := in[0], in[1], in[2], operand.At(in, 3)
	if x.Rank() == 0 || out[0].Rank() != x.Rank() || x.DType() == array.F64 || out[0].DType() == array.F64 {
		operand.BadOperand(step, "the operand is a scalar, or the result is not of its rank, or one is f64")
	}
	n, k := out[0].Dim(-1), x.Dim(-1)
	m, groups := operand.Prod(x.Shape()[:x.Rank()-1]), groupsOf(x.Dim(-1), s.Group)
	full := groups * s.Group
	if out[0].Len() != m*n || scale.Len() != n*groups || scale.DType() != array.F32 ||
		zero != nil && (zero.Len() != n*groups || zero.DType() != array.U8) || weight.DType() != array.U8 {
		operand.BadOperand(step, "the result, the scales or the zero points have another size than these operands give")
	}
	size := n * ((k + 1) / 2)
	if s.Packed {
		size = Int4PackedBytes(n, k, s.Group)
	}
	if weight.Len() != size {
		operand.BadOperand(step, "the weight has another size than these operands give")
	}
	if m*n == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[int4Job](w)
	*j = int4Job{m: m, n: n, groups: groups, blocks: s.Group / half.UnpackBlock, full: full, dst: operand.Result[float32](w, out[0]),
		weight: operand.LoadSame[uint8](w, weight), scale: operand.LoadSame[float32](w, scale)}
	if zero != nil {
		j.zero = operand.LoadSame[uint8](w, zero)
	}
	if !s.Packed {
		packed := par.Scratch[uint8](w, Int4PackedBytes(n, k, s.Group))
		packInt4(packed, j.weight, n, k, full)
		j.weight = packed
	}
	if j.x = operand.Load[float32](w, x); full != k {
		j.x = padRows(par.Scratch[float32](w, m*full), j.x, m, k, full)
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

// padRows copies m rows of k elements to rows of full, padded with zeros.
func padRows(dst, src []float32, m, k, full int) []float32 {
	for r := range m {
		clear(dst[r*full+copy(dst[r*full:], src[r*k:(r+1)*k]) : (r+1)*full])
	}
	return dst
}

// int4Job is a product with weights of 4 bits.
type int4Job struct {
	m, n           int
	groups, blocks int // of a column, of a group
	full           int // k, padded
	ldx            int
	x, dst         []float32
	weight         []uint8
	scale          []float32
	zero           []uint8
	sums           []float32 // of each group of each row of x, for zero points

	wide  []float32 // unpacked columns, from first on
	first int
}

// run computes the product. Up to unpackMost rows weights are widened in
// registers, each time they pass; for more rows unpackCols columns at a time are
// widened to scratch, which a product reads from the second cache.
func (j *int4Job) run(w *par.Workspace) {
	if j.m <= unpackMost {
		if j.zero != nil {
			j.sums = par.Scratch[float32](w, j.m*j.groups)
			group := j.blocks * half.UnpackBlock
			for i := range j.sums {
				j.sums[i] = 0
				for _, v := range j.x[i*group : (i+1)*group] {
					j.sums[i] += v
				}
			}
		}
		j.x, j.ldx = spread(w, j.x, j.m, j.full)
		w.Parallel(j.n, max(1, par.GemmWork/(j.m*j.full)), j)
		return
	}
	j.wide = par.Scratch[float32](w, min(j.n, unpackCols)*j.full)
	for j.first = 0; j.first < j.n; j.first += unpackCols {
		cols := min(unpackCols, j.n-j.first)
		w.Parallel(cols, max(1, par.PackWork/j.full), j)
		gemm.Gemm(w, false, true, j.m, cols, j.full, j.x, j.full, j.wide[:cols*j.full], j.full, j.dst[j.first:], j.n, false)
	}
}

// Do computes columns [lo, hi), or unpacks them. What zero points add is the sums
// of groups of x, made once, times a number a group: it stays out of the loop over
// weights.
func (j *int4Job) Do(lo, hi int) {
	if j.wide != nil {
		for c := lo; c < hi; c++ {
			j.unpack(j.wide[c*j.full:(c+1)*j.full], j.first+c)
		}
		return
	}
	for r := 0; r < j.m; r += unpackRows {
		j.rows(r, min(unpackRows, j.m-r), lo, hi)
	}
	if j.zero == nil {
		return
	}
	for c := lo; c < hi; c++ {
		scale, zero := j.scale[c*j.groups:(c+1)*j.groups], j.zero[c*j.groups:(c+1)*j.groups]
		for r := range j.m {
			s := float32(0)
			for g, sum := range j.sums[r*j.groups : (r+1)*j.groups] {
				s += float32(float32(float32(8-int32(zero[g]))*scale[g]) * sum)
			}
			j.dst[r*j.n+c] += s
		}
	}
}

// rows computes columns [lo, hi) of up to four rows. What the rows have in common
// with a part of the weights is kept in the cache while that part passes.
func (j *int4Job) rows(r, rows, lo, hi int) {
	var part [unpackRows * unpackPart]float32
	step := j.groups
	if rows > 1 {
		step = max(1, unpackDepth/(j.blocks*half.UnpackBlock))
	}
	for c := lo; c < hi; c += unpackPart {
		n := min(unpackPart, hi-c)
		for g := 0; g < j.groups; g += step {
			groups := min(step, j.groups-g)
			at := c*j.groups + g
			half.Int4Dot(n, rows, groups, j.blocks, j.x[r*j.ldx+g*j.blocks*half.UnpackBlock:], j.ldx, j.weight[at*j.blocks*16:],
				j.scale[at:], part[:], unpackPart, j.groups-groups)
			addPart(j.dst[r*j.n+c:], j.n, part[:], rows, n, g == 0)
		}
	}
}

// addPart adds rows of a buffer of unpackPart columns to dst, or sets them.
func addPart(dst []float32, ld int, part []float32, rows, n int, first bool) {
	for i := range rows {
		d, p := dst[i*ld:i*ld+n], part[i*unpackPart:i*unpackPart+n]
		if first {
			copy(d, p)
			continue
		}
		for c, v := range p {
			d[c] += v
		}
	}
}

// unpack writes the weights of column c. A block of sixteen bytes becomes 32
// numbers in order.
func (j *int4Job) unpack(dst []float32, c int) {
	for b := range j.groups * j.blocks {
		at := c*j.groups + b/j.blocks
		scale, zero := j.scale[at], int32(8)
		if j.zero != nil {
			zero = int32(j.zero[at])
		}
		d := (*[half.UnpackBlock]float32)(dst[b*half.UnpackBlock:])
		for i, v := range j.weight[c*j.full/2+b*16:][:16] {
			d[i] = float32(int32(v&15)-zero) * scale
			d[i+16] = float32(int32(v>>4)-zero) * scale
		}
	}
}
