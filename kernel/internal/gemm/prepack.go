package gemm

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// SumsInBlocks reports whether a product of at least so many rows and columns of f32 is summed in
// blocks of k on every machine, from start to end in each: then its bits do not depend on how
// its operands lie, or whether one is packed. Smaller ones are summed as suits what they read.
//
//gofx:kernel
func SumsInBlocks(rows, cols int) bool { return rows > mostThin && cols > mostThin }

// PackedB is the k×n right operand of float32 products, laid out once for the
// processor that the program runs on: a weight, packed when it is loaded. It
// must not be stored for another machine.
//
//gofx:kernel
type PackedB struct {
	k, n int
	data []float32
}

// PackedLen returns the elements that a k×n right operand takes when packed.
//
//gofx:kernel
func PackedLen(k, n int) int {
	if alongDepth(k, n) {
		return k * n
	}
	return panelsLen(k, n)
}

// panelsLen is PackedLen of panels.
func panelsLen(k, n int) int { return k * operand.RoundUp(n, BlockingOf(cpu.Host.Level).Nr) }

// alongDepth reports whether a k×n right operand is packed as rows along k, n of
// them: without assembly, and where they are so few that most of a panel's
// columns would be empty, and so long that products of rows with rows, which
// end with sums over a vector's lanes, take less.
func alongDepth(k, n int) bool {
	return !cpu.Assembly() || HasThin(cpu.Host.Level) && n <= dotCols && k >= 64
}

// PackB packs op(b), k×n, which is b transposed with transB; see Gemm.
//
//gofx:kernel
func PackB(w *par.Workspace, transB bool, k, n int, b []float32, ldb int) PackedB {
	p := PackedB{k, n, make([]float32, PackedLen(k, n))}
	PackRight(w, p.data, transB, k, n, b, ldb)
	return p
}

// Gemm computes c = op(a)·p, or c += with acc, as the function of that name.
func (p PackedB) Gemm(w *par.Workspace, transA bool, m int, a []float32, lda int, c []float32, ldc int, acc bool) {
	if m <= 0 || p.n <= 0 {
		return
	}
	CheckOperand("c", m, p.n, false, len(c), ldc)
	if p.k > 0 {
		CheckOperand("a", m, p.k, transA, len(a), lda)
	}
	multiplyPacked(w, Product{M: m, N: p.n, K: p.k, transA: transA, A: a, Lda: lda, PackedB: p.data, C: c, Ldc: ldc, Acc: acc})
}

// multiplyPacked computes a product whose right operand PackB or PackLinear made.
func multiplyPacked(w *par.Workspace, p Product) {
	if cpu.Assembly() {
		if !p.Pairs && alongDepth(p.K, p.N) {
			_ = p.PackedB[p.K*p.N-1]
			p.B, p.Ldb, p.transB, p.PackedB = p.PackedB, p.K, true, nil
		}
		Multiply(w, p)
		return
	}
	Gemm(w, p.transA, true, p.M, p.N, p.K, p.A, p.Lda, p.PackedB, p.K, p.C, p.Ldc, p.Acc)
	// Not All, whose job a program without assembly need not carry.
	p.End.Apply(cpu.Generic, p.M, p.N, 0, 0, p.C, p.Ldc)
	p.End.MapAll(w, p.C[:(p.M-1)*p.Ldc+p.N])
}

// PackRight packs a right operand into PackedLen elements. Where the product reads
// along k, columns are laid out as they are, else as panels of a block of k after
// the other, in the order in which products read them.
func PackRight(w *par.Workspace, dst []float32, transB bool, k, n int, b []float32, ldb int) {
	if k <= 0 || n <= 0 {
		return
	}
	CheckOperand("b", k, n, transB, len(b), ldb)
	if alongDepth(k, n) {
		for j := range n {
			for p := range k {
				at := p*ldb + j
				if transB {
					at = j*ldb + p
				}
				dst[j*k+p] = b[at]
			}
		}
		return
	}
	packPanels(w, packRightJob{dst: dst, src: b, ld: ldb, trans: transB, k: k, n: n})
}

// packPanels is PackRight of panels.
func packPanels(w *par.Workspace, p packRightJob) {
	j := par.TakeJob[packRightJob](w)
	*j = p
	j.level, j.bl = cpu.Host.Level, BlockingOf(cpu.Host.Level)
	w.Parallel((j.n+j.bl.Nr-1)/j.bl.Nr, max(1, par.SimdPack/(j.bl.Nr*j.k)), j)
	par.PutJob(w, j)
}

// packRightJob packs a right operand as a whole, block of k by block of k.
type packRightJob struct {
	level    cpu.Level
	bl       Blocking
	dst, src []float32
	ld       int
	trans    bool
	k, n     int
}

// Do packs panels [lo, hi) of every block. A panel's columns are read through all
// of k while their lines are near.
func (j *packRightJob) Do(lo, hi int) {
	nr, depth := j.bl.Nr, j.bl.Depth(j.k)
	for i := lo; i < hi; i++ {
		for p := 0; p < j.k; p += depth {
			kc := min(depth, j.k-p)
			dst := j.dst[p*operand.RoundUp(j.n, nr)+i*nr*kc:][:nr*kc]
			PackPanel(j.level, dst, nr, j.src, j.ld, j.trans, i*nr, min(nr, j.n-i*nr), p, kc)
		}
	}
}

// PackLinear packs in[0], the weight [N, K] of a linear layer in f32, f16 or
// bf16, for LinearPacked with the same BF16: out[0] is f32 [PackedLen(K, N)]. With BF16 the weight
// is rounded; where the processor multiplies pairs of bf16 it takes half the elements.
//
//gofx:kernel
type PackLinear struct {
	Transposed bool // the weight is [K, N], the right operand of a product
	BF16       bool // for LinearPacked with BF16
}

// Run implements Step.
func (s PackLinear) Run(w *par.Workspace, out, in []*array.Array) {
	mark := w.Mark()
	weight := in[0]
	if s.Transposed {
		weight = array.Permute(weight, 1, 0)
	}
	n, k := weight.Dim(0), weight.Dim(1)
	if n > 0 && k > 0 {
		m := loadMatrices[float32](w, weight)
		b, depth, ld := m.data[m.at:], k, m.ld
		if s.BF16 {
			b, depth, ld = brainMatrix(w, m, n, k)
		}
		if s.pairs() {
			packPanels(w, packRightJob{dst: array.Data[float32](out[0]), src: b, ld: ld, trans: !m.trans, k: depth, n: n})
		} else {
			PackRight(w, array.Data[float32](out[0]), !m.trans, depth, n, b, ld)
		}
	}
	w.Release(mark)
}

// pairs reports whether words of two bf16 are packed.
func (s PackLinear) pairs() bool { return s.BF16 && cpu.HasPairs() }

// Packed implements Packer.
func (s PackLinear) Packed(weight *array.Array) (array.DType, []int) {
	n, k := weight.Dim(0), weight.Dim(1)
	if s.Transposed {
		n, k = k, n
	}
	if s.pairs() {
		return array.F32, []int{panelsLen(Words(k), n)}
	}
	return array.F32, []int{PackedLen(k, n)}
}

// ScratchBytes implements Scratcher.
func (s PackLinear) ScratchBytes(_, in []*array.Array) int {
	n := 0
	if s.BF16 {
		n = par.ScratchSize(in[0].Len(), 4)
	}
	if plainMatrices(in[0], in[0].DType()) {
		return n
	}
	return n + operand.LoadBytes(in[0])
}

// LinearPacked is Linear with a weight that PackLinear packed, and an epilogue:
// in[0] [..., K], in[1] the packed weight, then bias [N], scale [N] and residual
// [..., N], each nil when absent. Element types f32, f16, bf16. With BF16, in[0] and the weight are
// rounded to bf16, to the nearest, ties to even; sums and all after them stay f32. Results are within
// (K+2)·2⁻²³·Σ|x·w| + K·2⁻¹²⁶·(1+|x|+|w|) of the exact sums of rounded operands, where the last term
// has the greatest |x| and |w|, and differ between processors within that bound: some count
// subnormal operands and sums as 0.
//
//gofx:kernel
type LinearPacked struct {
	Features int  // N
	BF16     bool // operands are rounded to bf16
	operand.Epilogue
}

// Run implements Step.
func (s LinearPacked) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	k := in[0].Dim(-1)
	dst := operand.Result[float32](w, out[0])
	end := Finish{Ldr: s.Features, biasCol: operand.Load[float32](w, operand.At(in, 2)),
		scaleCol: operand.Load[float32](w, operand.At(in, 3)), Residual: operand.Load[float32](w, operand.At(in, 4))}
	x := operand.Load[float32](w, in[0])
	if s.BF16 {
		x, k = Brains(w, x, len(dst)/s.Features, k)
	}
	multiplyPacked(w, Product{M: len(dst) / s.Features, N: s.Features, K: k, A: x, Lda: k, Pairs: s.BF16 && cpu.HasPairs(),
		PackedB: array.Data[float32](in[1]), C: dst, Ldc: s.Features, End: end.With(s.Epilogue)})
	operand.Store(out[0], dst)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s LinearPacked) ScratchBytes(out, in []*array.Array) int {
	k := in[0].Dim(-1)
	if out[0].Len() == 0 {
		return 0
	}
	n, rows := operand.StoreBytes(out[0])+operand.LoadBytes(in[0])+operand.LoadAllBytes(in[2:]), out[0].Len()/s.Features
	if s.BF16 {
		n += par.ScratchSize(rows*k, 4)
	}
	switch {
	case k == 0:
		return n
	case s.BF16 && cpu.HasPairs():
		return n + BlockScratch(cpu.Pairs, rows, s.Features, Words(k), true, false)
	case !cpu.Assembly():
		return n + Scratch[float32](rows, s.Features, k)
	case alongDepth(k, s.Features):
		return n + productScratch(cpu.Host.Level, rows, s.Features, k)
	}
	return n + BlockScratch(cpu.Host.Level, rows, s.Features, k, true, false)
}
