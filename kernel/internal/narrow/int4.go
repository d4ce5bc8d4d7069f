package narrow

import (
	"github.com/gofx-dev/gofx/array"
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

// PackInt4 pads the rows of 4-bit weights to whole groups for Int4Linear: in[0] is u8
// [n, ceil(k/2)], two weights a byte, the even one in the lower half; out[0] is a vector of
// Int4PackedBytes. Where k is a multiple of the group it is the weight as it is, and need
// not be made.
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
	packInt4(dst, operand.LoadSame[uint8](w, in[0]), n, (s.K+1)/2, groupsOf(s.K, s.Group)*s.Group/2)
	w.Release(mark)
}

// packInt4 copies n rows of size bytes to rows of full, padded with weights that stand
// for 0 without a zero point; x has zeros there.
func packInt4(dst, src []uint8, n, size, full int) {
	for c := range n {
		row := dst[c*full : (c+1)*full]
		for i := copy(row, src[c*size:(c+1)*size]); i < full; i++ {
			row[i] = 0x88
		}
	}
}

// Int4Linear is a linear layer with weights of 4 bits, (q-zero)·scale for each
// group of Group weights of a row, as in ONNX Runtime's MatMulNBits, unpacked in
// registers and computed in float32. Group is a multiple of 32. in[0] is x [..., k]
// f32, f16 or bf16; in[1] the weight, u8 [n, ceil(k/2)], or with Packed the output
// of PackInt4; in[2] the scales f32 [n, groups]; in[3] optional zero points u8 [n,
// groups] below 16, 8 without them; in[4] an optional bias [n]. The result is [...,
// n] of a type x may have.
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
	rows, pad := x.Len()/max(k, 1), 0
	if !s.Packed && k%s.Group != 0 {
		pad = par.ScratchSize(Int4PackedBytes(n, k, s.Group), 1)
	}
	return operand.LoadAllBytes([]*array.Array{x, operand.At(in, 1), operand.At(in, 2), operand.At(in, 3), operand.At(in, 4)}) +
		operand.StoreBytes(out[0]) + pad +
		par.ScratchSize(rows*(groups*s.Group+spreadBy), 4) + par.ScratchSize(rows*groups, 4) + wideScratch(rows, n, groups*s.Group)
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
	*j = int4Job{product: product{m: m, n: n, k: full, dst: operand.Result[float32](w, out[0])}, groups: groups, blocks: s.Group / half.UnpackBlock,
		weight: operand.LoadSame[uint8](w, weight), scale: operand.LoadSame[float32](w, scale)}
	if zero != nil {
		j.zero = operand.LoadSame[uint8](w, zero)
	}
	if !s.Packed && full != k {
		packed := par.Scratch[uint8](w, Int4PackedBytes(n, k, s.Group))
		packInt4(packed, j.weight, n, (k+1)/2, full/2)
		j.weight = packed
	}
	if k == 0 {
		clear(j.dst)
	} else {
		j.run(w, operand.Load[float32](w, x), k)
	}
	addBias(j.dst, linearBias(w, step, operand.At(in, 4), n))
	operand.Store(out[0], j.dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// padRows copies m rows of k elements to rows of full, ld apart, padded with zeros.
func padRows(dst, src []float32, m, k, full, ld int) {
	for r := range m {
		clear(dst[r*ld+copy(dst[r*ld:], src[r*k:(r+1)*k]) : r*ld+full])
	}
}

// evenFirst puts, of each 32 elements, those of even places before the others: the order
// of weights of 4 bits by lower halves and upper halves of bytes.
func evenFirst(x []float32) {
	for ; len(x) > 0; x = x[half.UnpackBlock:] {
		to := (*[half.UnpackBlock]float32)(x)
		from := *to
		for i := range half.UnpackBlock / 2 {
			to[i], to[half.UnpackBlock/2+i] = from[2*i], from[2*i+1]
		}
	}
}

// int4Job is a product with weights of 4 bits.
type int4Job struct {
	product            // k is padded
	groups, blocks int // of a column, of a group
	weight         []uint8
	scale          []float32
	zero           []uint8
	sums           []float32 // of each group of each row of x, for zero points
	lines          bool      // few rows of x are in the order of half.LineOrder
}

// run computes the product with x [m, k].
func (j *int4Job) run(w *par.Workspace, x []float32, k int) {
	most := unpackMost
	if j.lines = half.HasInt4Tile(j.k, j.blocks*half.UnpackBlock); j.lines {
		most = lineMost
	}
	if j.m <= most {
		j.multiplyFewRows(w, x, k)
		return
	}
	if j.x, j.ldx = x, j.k; k != j.k {
		j.x = par.Scratch[float32](w, j.m*j.k)
		padRows(j.x, x, j.m, k, j.k, j.k)
	}
	j.panels(w, j)
}

// multiplyFewRows computes the product of few rows.
func (j *int4Job) multiplyFewRows(w *par.Workspace, x []float32, k int) {
	if j.ldx = j.k; j.m > 1 && j.k%pageFloats == 0 {
		j.ldx += spreadBy
	}
	j.x = par.Scratch[float32](w, j.m*j.ldx)
	padRows(j.x, x, j.m, k, j.k, j.ldx)
	if j.zero != nil {
		j.sums = par.Scratch[float32](w, j.m*j.groups)
	}
	for r := range j.m {
		row := j.x[r*j.ldx : r*j.ldx+j.k]
		if j.zero != nil {
			groupSums(j.sums[r*j.groups:(r+1)*j.groups], row)
		}
		if j.lines {
			half.LineOrder(row)
		} else {
			evenFirst(row)
		}
	}
	j.few(w, j)
}

// groupSums adds up the elements of each group of x, in four sums that do not wait for
// each other.
func groupSums(dst, x []float32) {
	size := len(x) / max(len(dst), 1)
	for g := range dst {
		var s [4]float32
		p := x[g*size : (g+1)*size]
		for ; len(p) >= 4; p = p[4:] {
			s[0], s[1], s[2], s[3] = s[0]+p[0], s[1]+p[1], s[2]+p[2], s[3]+p[3]
		}
		for i, v := range p {
			s[i] += v
		}
		dst[g] = (s[0] + s[1]) + (s[2] + s[3])
	}
}

// Do computes columns [lo, hi), or unpacks them. Zero points add the sums of
// groups of x, made once, times a number a group: it stays out of the loop over
// weights.
func (j *int4Job) Do(lo, hi int) {
	if j.wide != nil {
		for c := lo; c < hi; c++ {
			j.unpack(j.wide[c*j.k:(c+1)*j.k], j.first+c)
		}
		return
	}
	for r := 0; r < j.m; r += unpackRows {
		j.rows(r, min(unpackRows, j.m-r), lo, hi)
	}
}

// rows computes columns [lo, hi) of up to four rows. The elements of the rows
// that belong to a part of the weights stay in the cache while that part passes.
func (j *int4Job) rows(r, rows, lo, hi int) {
	var buffer [unpackRows * unpackPart]float32
	step := j.groups
	if rows > 1 {
		step = max(1, unpackDepth/(j.blocks*half.UnpackBlock))
	}
	for c := lo; c < hi; c += unpackPart {
		n := min(unpackPart, hi-c)
		for g := 0; g < j.groups; g += step {
			p := half.Int4Product{N: n, Rows: rows, Groups: min(step, j.groups-g), Dst: j.dst[r*j.n+c:], Ldd: j.n}
			if g > 0 {
				p.Dst, p.Ldd = buffer[:], unpackPart
			}
			j.part(&p, r, c, g)
			if g > 0 {
				addPart(j.dst[r*j.n+c:], j.n, p.Dst, rows, n, false)
			}
		}
		for i := r; i < r+rows && j.zero != nil && !j.lines; i++ {
			half.Int4Zeros(n, j.groups, j.sums[i*j.groups:(i+1)*j.groups], j.zero[c*j.groups:], j.scale[c*j.groups:], j.dst[i*j.n+c:])
		}
	}
}

// part computes what groups from g on add to columns from c on and rows from r on, of which p says how many.
func (j *int4Job) part(p *half.Int4Product, r, c, g int) {
	p.Size, p.Skip = j.blocks*half.UnpackBlock, j.groups-p.Groups
	at := c*j.groups + g
	p.X, p.Ldx, p.W, p.Scale = j.x[r*j.ldx+g*p.Size:], j.ldx, j.weight[at*p.Size/2:], j.scale[at:]
	if !j.lines {
		half.Int4Dot(p.N, p.Rows, p.Groups, j.blocks, p.X, p.Ldx, p.W, p.Scale, p.Dst, p.Ldd, p.Skip)
		return
	}
	if j.zero != nil {
		p.Zero, p.Sums, p.Lds = j.zero[at:], j.sums[r*j.groups+g:], j.groups
	}
	half.Int4Tile(p)
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

// unpack writes the weights of column c.
func (j *int4Job) unpack(dst []float32, c int) {
	var zero []uint8
	if j.zero != nil {
		zero = j.zero[c*j.groups:]
	}
	half.Int4Unpack(dst, j.weight[c*j.k/2:], j.scale[c*j.groups:], zero, j.blocks*half.UnpackBlock)
}
