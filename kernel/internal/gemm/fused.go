package gemm

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// LinearFused is LinearPacked with a weight that is another one in each run: in[1] is
// [N, K], or [K, N] with Transposed, as it lies. A product packs on its way what it reads
// again, for hardly more than reading a packed weight takes.
//
//gofx:kernel
type LinearFused struct {
	Transposed bool // the weight is [K, N], the right operand of a product
	operand.Epilogue
}

// Run implements Step.
func (s LinearFused) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	n, k := s.sizes(in[1])
	dst := operand.Result[float32](w, out[0])
	end := Finish{Ldr: n, biasCol: operand.Load[float32](w, operand.At(in, 2)),
		scaleCol: operand.Load[float32](w, operand.At(in, 3)), Residual: operand.Load[float32](w, operand.At(in, 4))}
	p := Product{M: len(dst) / n, N: n, K: k, C: dst, Ldc: n, End: end.With(s.Epilogue)}
	if k > 0 {
		p.A, p.Lda, p.transA = s.left(w, in[0])
		m := loadMatrices[float32](w, in[1])
		p.B, p.Ldb, p.transB = m.data[m.at:], m.ld, m.trans == s.Transposed
		checkProduct(p.transA, p.transB, p.M, n, k, len(p.A), p.Lda, len(p.B), p.Ldb, len(dst), n)
	}
	multiplyPlain(w, p)
	operand.Store(out[0], dst)
	w.Release(mark)
}

// multiplyPlain computes a product of two matrices as they lie, on any machine. A bias comes
// after the sum, as it does after that of a packed weight: both have the same bits.
func multiplyPlain(w *par.Workspace, p Product) {
	if cpu.Assembly() {
		Multiply(w, p)
		return
	}
	Gemm(w, p.transA, p.transB, p.M, p.N, p.K, p.A, p.Lda, p.B, p.Ldb, p.C, p.Ldc, false)
	p.End.All(w, cpu.Generic, p.M, p.N, p.C, p.Ldc)
}

// sizes returns N and K.
func (s LinearFused) sizes(weight *array.Array) (n, k int) {
	if s.Transposed {
		return weight.Dim(1), weight.Dim(0)
	}
	return weight.Dim(0), weight.Dim(1)
}

// readsInPlace reports whether the left operand is a matrix of another order that the product
// reads where it lies, as MatMul does: the same bits.
func (s LinearFused) readsInPlace(x *array.Array) bool {
	return s.Transposed && x.Rank() == 2 && x.DType() == array.F32 && !x.IsContiguous() && plainMatrices(x, x.DType())
}

// left returns the left operand of the product, rows along k.
func (s LinearFused) left(w *par.Workspace, x *array.Array) (a []float32, ld int, trans bool) {
	if !s.readsInPlace(x) {
		return operand.Load[float32](w, x), x.Dim(-1), false
	}
	trans, ld, _ = matrixLayout(x)
	return array.Raw[float32](x)[x.Offset():], ld, trans
}

// ScratchBytes implements Scratcher.
func (s LinearFused) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	n := operand.StoreBytes(out[0]) + operand.LoadAllBytes(in[2:])
	if !s.readsInPlace(in[0]) {
		n += operand.LoadBytes(in[0])
	}
	if !plainMatrices(in[1], in[1].DType()) {
		n += operand.LoadBytes(in[1])
	}
	cols, k := s.sizes(in[1])
	return n + Scratch[float32](out[0].Len()/cols, cols, k)
}
