package narrow

//go:generate go run -C ../../../internal/generators/asmgen ./half

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// HalfLinear is torch.nn.functional.linear with the weight stored in 16 bits and
// computed in float32: in[0] x [..., k], in[1] the weight [n, k] f16 or bf16, in[2]
// an optional bias [n]; the result is [..., n]. x, the bias and the result are
// f32, or f16 or bf16, rounded once when stored. Weights are widened in
// registers, or a block at a time for many rows, so that memory is read once in
// 16 bits. Sums are those of float32 in another order than MatMul's.
//
//gofx:kernel
type HalfLinear struct{}

// ScratchBytes implements Scratcher.
func (HalfLinear) ScratchBytes(out, in []*array.Array) int {
	x := in[0]
	n, k := out[0].Dim(-1), x.Dim(-1)
	return operand.LoadAllBytes([]*array.Array{x, operand.At(in, 2)}) + operand.StoreBytes(out[0]) + par.ScratchSize(in[1].Len(), 2) +
		wideScratch(x.Len()/max(k, 1), n, k) + spreadBytes(x.Len()/max(k, 1), k, unpackMost)
}

// wideScratch is the scratch of products with widened blocks of weights.
func wideScratch(m, n, k int) int {
	if m <= unpackMost {
		return 0
	}
	return par.ScratchSize(min(n, unpackCols)*k, 4) + gemm.Scratch[float32](m, min(n, unpackCols), k)
}

// Run implements Step.
func (HalfLinear) Run(w *par.Workspace, out, in []*array.Array) {
	const step = "half_linear"
	x, weight := in[0], in[1]
	m, n, k := linearSizes(step, out[0], x, weight, operand.IsHalf(weight.DType()), "f16 or bf16")
	if m*n == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[halfJob](w)
	*j = halfJob{product: product{m: m, n: n, k: k, x: operand.Load[float32](w, x), dst: operand.Result[float32](w, out[0])},
		weight: loadHalves(w, weight), brain: weight.DType() == array.BF16}
	if k == 0 {
		clear(j.dst)
	} else {
		j.run(w, j, unpackMost)
	}
	addBias(j.dst, linearBias(w, step, operand.At(in, 2), n))
	operand.Store(out[0], j.dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// linearSizes returns the rows of x, those of the weight and their columns; fits tells
// that the weight is of a type that the step takes, which kinds names.
func linearSizes(step string, out, x, weight *array.Array, fits bool, kinds string) (m, n, k int) {
	if x.Rank() == 0 || out.Rank() != x.Rank() || weight.Rank() != 2 {
		operand.BadOperand(step, "the operand is a scalar, the result is not of its rank, or the weight is not a matrix")
	}
	n, k = weight.Dim(0), weight.Dim(1)
	m = operand.Prod(x.Shape()[:x.Rank()-1])
	if !fits || x.Dim(-1) != k || out.Dim(-1) != n || out.Len() != m*n || out.DType() == array.F64 || x.DType() == array.F64 {
		operand.BadOperand(step, "the weight is not [n, k] of "+kinds+" for a result of n and an operand of k columns of f32, f16 or bf16")
	}
	return m, n, k
}

// linearBias returns the elements of a bias of n, which may have axes of 1 before them, nil without
// one.
func linearBias(w *par.Workspace, step string, bias *array.Array, n int) []float32 {
	if bias == nil {
		return nil
	}
	if bias.Rank() < 1 || bias.Dim(-1) != n || bias.Len() != n || bias.DType() != array.F32 && !operand.IsHalf(bias.DType()) {
		operand.BadOperand(step, "the bias does not have one float for each column")
	}
	return operand.Load[float32](w, bias)
}

// PackHalf rounds in[0], the weight [N, K] of a linear layer in f32, to DType, f16 or
// bf16, for HalfLinear.
//
//gofx:kernel
type PackHalf struct {
	DType      array.DType
	Transposed bool // the weight is [K, N], the right operand of a product
}

// turned returns the weight as [N, K].
func (s PackHalf) turned(weight *array.Array) *array.Array {
	if s.Transposed {
		return array.Permute(weight, 1, 0)
	}
	return weight
}

// Packed implements Packer.
func (s PackHalf) Packed(weight *array.Array) (array.DType, []int) {
	return s.DType, s.turned(weight).Shape()
}

// Run implements Step.
func (s PackHalf) Run(_ *par.Workspace, out, in []*array.Array) {
	array.Copy(out[0], array.Cast(s.turned(in[0]), s.DType))
}

// spread returns rows of x at another distance where theirs, a multiple of 4 KiB,
// would make them fight for the same place in the first cache, where up to most of them are few.
func spread(w *par.Workspace, x []float32, m, k, most int) (rows []float32, ld int) {
	if spreadBytes(m, k, most) == 0 {
		return x, k
	}
	ld = k + spreadBy
	rows = par.Scratch[float32](w, m*ld)
	for i := range m {
		copy(rows[i*ld:i*ld+k], x[i*k:])
	}
	return rows, ld
}

// spreadBytes is the scratch that spread takes.
func spreadBytes(m, k, most int) int {
	if m <= 1 || m > most || k == 0 || k%pageFloats != 0 {
		return 0
	}
	return par.ScratchSize(m*(k+spreadBy), 4)
}

func addBias(dst, bias []float32) {
	if len(bias) == 0 {
		return
	}
	for ; len(dst) > 0; dst = dst[len(bias):] {
		for i, b := range bias {
			dst[i] += b
		}
	}
}

// loadHalves returns the bits of a 16-bit float array in row-major order.
func loadHalves(w *par.Workspace, a *array.Array) []uint16 {
	if a.Len() == 0 {
		return nil
	}
	if a.DType() == array.F16 {
		return half.Bits(operand.LoadSame[array.Half](w, a))
	}
	return half.Bits(operand.LoadSame[array.BFloat](w, a))
}

// halfJob is a product with weights of 16 bits.
type halfJob struct {
	product
	weight []uint16
	brain  bool // bf16
}

// Do computes columns [lo, hi), or widens them. Four rows share each pass over the
// weights, which come from memory; more passes follow only while that takes less
// than widening them first.
func (j *halfJob) Do(lo, hi int) {
	if j.wide != nil {
		half.Widen(j.wide[lo*j.k:hi*j.k], j.weight[(j.first+lo)*j.k:(j.first+hi)*j.k], j.brain)
		return
	}
	for r := 0; r < j.m; r += unpackRows {
		rows := min(unpackRows, j.m-r)
		j.rows(r, rows, lo, hi)
	}
}

// rows computes columns [lo, hi) of up to four rows; see int4Job.rows.
func (j *halfJob) rows(r, rows, lo, hi int) {
	var part [unpackRows * unpackPart]float32
	step := j.k
	if rows > 1 {
		step = unpackDepth
	}
	for c := lo; c < hi; c += unpackPart {
		n := min(unpackPart, hi-c)
		for p := 0; p < j.k; p += step {
			half.DotHalves(n, rows, min(step, j.k-p), j.x[r*j.ldx+p:], j.ldx, j.weight[c*j.k+p:], j.k, j.brain, part[:], unpackPart)
			addPart(j.dst[r*j.n+c:], j.n, part[:], rows, n, p == 0)
		}
	}
}
