package narrow

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BlockLinear is a linear layer with the weight in blocks as GGUF files have them, made
// floats in registers and computed in float32. Format is the layout's name there: F16, BF16,
// Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K or Q6_K. in[0] is x [..., k] f32, f16 or bf16; in[1]
// the weight, u8 [n, bytes of k elements]; in[2] an optional bias [n]. The result is [..., n] of a type
// x may have.
//
//gofx:kernel
type BlockLinear struct{ Format string }

// ScratchBytes implements Scratcher.
func (s BlockLinear) ScratchBytes(out, in []*array.Array) int {
	x := in[0]
	n, k := out[0].Dim(-1), x.Dim(-1)
	rows := x.Len() / max(k, 1)
	return operand.LoadAllBytes([]*array.Array{x, in[1], operand.At(in, 2)}) + operand.StoreBytes(out[0]) + wideScratch(rows, n, k) + spreadBytes(rows, k, unpackMost) + orderBytes(rows, k)
}

// orderBytes is the scratch of one row in the order of half.BlockOrder.
func orderBytes(m, k int) int {
	if m != 1 {
		return 0
	}
	return par.ScratchSize(k, 4) + par.ScratchSize(k/half.UnpackBlock, 4)
}

// Run implements Step.
func (s BlockLinear) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "block_linear"
	l := linearOf(step, s.Format, out, in)
	if l.m*l.n == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[blockJob](w)
	*j = blockJob{product: product{m: l.m, n: l.n, k: l.k, x: operand.Load[float32](w, in[0]), dst: operand.Result[float32](w, out[0])},
		weight: operand.LoadSame[uint8](w, in[1]), format: l.format, row: l.row}
	if l.k == 0 {
		clear(j.dst)
	} else {
		j.run(w)
	}
	addBias(j.dst, linearBias(w, step, operand.At(in, 2), l.n))
	operand.Store(out[0], j.dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// blockSizes are the sizes of a layer: x [m, k], n rows of the weight of row bytes.
type blockSizes struct {
	m, n, k, row int
	format       *blocks.Format
}

// linearOf checks the operands and the result of a layer.
func linearOf(step, format string, out, in []*array.Array) blockSizes {
	x, weight, f := in[0], in[1], blockFormat(step, format, in[1])
	if x.Rank() == 0 || out[0].Rank() != x.Rank() || x.DType() == array.F64 || out[0].DType() == array.F64 {
		operand.BadOperand(step, "the operand is a scalar, or the result is not of its rank, or one is f64")
	}
	m, n, k := operand.Prod(x.Shape()[:x.Rank()-1]), weight.Dim(0), x.Dim(-1)
	if weight.Dim(1)*f.Elements != k*f.Bytes || out[0].Dim(-1) != n || out[0].Len() != m*n {
		operand.BadOperand(step, "the weight or the result has another size than these operands give")
	}
	return blockSizes{m: m, n: n, k: k, row: weight.Dim(1), format: f}
}

// blockFormat returns the layout of a weight that is a matrix of whole blocks.
func blockFormat(step, name string, weight *array.Array) *blocks.Format {
	f := blockFormatOf(step, name)
	if weight.Rank() != 2 || weight.DType() != array.U8 || weight.Dim(1)%f.Bytes != 0 {
		operand.BadOperand(step, "the weight is not a matrix of u8 whose rows are whole blocks")
	}
	return f
}

// blockFormatOf returns the layout of a name.
func blockFormatOf(step, name string) *blocks.Format {
	f := blocks.Lookup(name)
	if f == nil {
		operand.BadOperand(step, "the format is unknown")
	}
	return f
}

// blockJob is a product with weights in blocks.
type blockJob struct {
	product
	weight []uint8
	format *blocks.Format
	row    int       // bytes
	alone  bool      // one row, in the order of half.BlockOrder
	sums   []float32 // of 32 elements of that
}

func (j *blockJob) run(w *par.Workspace) {
	if j.m == 1 {
		x, sums := par.Scratch[float32](w, j.k), par.Scratch[float32](w, j.k/half.UnpackBlock)
		copy(x, j.x)
		if j.alone = half.BlockOrder(j.format, x, sums); j.alone {
			j.x, j.sums = x, sums
		}
	}
	j.product.run(w, j, unpackMost)
}

// Do computes columns [lo, hi), or makes them floats; see halfJob.Do.
func (j *blockJob) Do(lo, hi int) {
	if j.wide != nil {
		half.WidenBlocks(j.format, j.wide[lo*j.k:hi*j.k], j.weight[(j.first+lo)*j.row:(j.first+hi)*j.row])
		return
	}
	if j.alone {
		half.BlockRow(j.format, hi-lo, j.x, j.sums, j.weight[lo*j.row:], j.row, j.dst[lo:])
		return
	}
	for r := 0; r < j.m; r += unpackRows {
		j.rows(r, min(unpackRows, j.m-r), lo, hi)
	}
}

// rows computes columns [lo, hi) of up to four rows; see int4Job.rows.
func (j *blockJob) rows(r, rows, lo, hi int) {
	var part [unpackRows * unpackPart]float32
	step := j.k
	if rows > 1 {
		step = unpackDepth
	}
	for c := lo; c < hi; c += unpackPart {
		n := min(unpackPart, hi-c)
		for p := 0; p < j.k; p += step {
			at := c*j.row + p/j.format.Elements*j.format.Bytes
			d := half.Dots{N: n, Rows: rows, K: min(step, j.k-p), X: j.x[r*j.ldx+p:], LdX: j.ldx, W: j.weight[at:], LdW: j.row, Dst: part[:], LdDst: unpackPart}
			d.Blocks(j.format)
			addPart(j.dst[r*j.n+c:], j.n, part[:], rows, n, p == 0)
		}
	}
}

// BlockEmbedding takes rows of a matrix in blocks of Format, as BlockLinear has them, which the integers
// of in[0] name, as floats: in[1] is u8 [V, bytes of a row], the result f32.
//
//gofx:kernel
type BlockEmbedding struct{ Format string }

// ScratchBytes implements Scratcher.
func (BlockEmbedding) ScratchBytes(_, in []*array.Array) int { return operand.LoadAllBytes(in) }

// Run implements Step.
func (s BlockEmbedding) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "block_embedding"
	x, weight, f := in[0], in[1], blockFormat(step, s.Format, in[1])
	width := weight.Dim(1) / f.Bytes * f.Elements
	if out[0].DType() != array.F32 || out[0].Len() != x.Len()*width {
		operand.BadOperand(step, "the result is not f32 of a row for each index")
	}
	mark := w.Mark()
	j := par.TakeJob[blockEmbeddingJob](w)
	*j = blockEmbeddingJob{dst: array.Data[float32](out[0]), weight: operand.LoadSame[uint8](w, weight), format: f, row: weight.Dim(1), width: width}
	j.index = operand.LoadIndices(step, w, x, weight.Dim(0))
	w.Parallel(x.Len(), max(1, par.PackWork/max(width, 1)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// blockEmbeddingJob is a look-up in progress.
type blockEmbeddingJob struct {
	dst        []float32
	index      operand.Indices
	weight     []uint8
	format     *blocks.Format
	row, width int // bytes and elements of a row
}

// Do makes rows [lo, hi) of the result.
func (j *blockEmbeddingJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		at := j.index.At(i)
		half.WidenBlocks(j.format, j.dst[i*j.width:(i+1)*j.width], j.weight[at*j.row:(at+1)*j.row])
	}
}
