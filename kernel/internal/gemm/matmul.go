package gemm

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// MatMul multiplies in[0] [..., m, k] by in[1] [..., k, n] as torch.matmul does
// does: leading dimensions broadcast, a vector is a row on the left and a column
// on the right, whose dimension the result lacks. All element types but bool;
// integers wrap around.
//
//gofx:kernel
type MatMul struct{}

// Run implements Step.
func (MatMul) Run(w *par.Workspace, out, in []*array.Array) {
	out, in = matrices(out, in)
	switch out[0].DType() {
	case array.F64:
		matMulReal[float64](w, out[0], in[0], in[1])
	case array.F32, array.F16, array.BF16:
		matMulReal[float32](w, out[0], in[0], in[1])
	case array.I8:
		matMulInt[int8](w, out[0], in[0], in[1])
	case array.U8:
		matMulInt[uint8](w, out[0], in[0], in[1])
	case array.I16:
		matMulInt[int16](w, out[0], in[0], in[1])
	case array.U16:
		matMulInt[uint16](w, out[0], in[0], in[1])
	case array.I32:
		matMulInt[int32](w, out[0], in[0], in[1])
	case array.U32:
		matMulInt[uint32](w, out[0], in[0], in[1])
	case array.I64:
		matMulInt[int64](w, out[0], in[0], in[1])
	case array.U64:
		matMulInt[uint64](w, out[0], in[0], in[1])
	default:
		panic("kernel: matmul: element type " + out[0].DType().String() + ", expected a number")
	}
}

// ScratchBytes implements Scratcher.
func (MatMul) ScratchBytes(out, in []*array.Array) int {
	out, in = matrices(out, in)
	n := operand.StoreBytes(out[0])
	for _, a := range in[:2] {
		if out[0].DType().IsInt() || plainMatrices(a, a.DType()) {
			continue
		}
		n += operand.LoadBytes(a)
	}
	rows, cols, k := out[0].Dim(-2), out[0].Dim(-1), in[0].Dim(-1)
	if rows > 0 && cols > 0 && out[0].DType() != array.F64 && batchable[float32](out[0].Len()/(rows*cols), rows, cols, k) {
		return n + max(batchScratch(rows, cols, k), Scratch[float32](max(rows, foldedRows(in[0], in[1])), cols, k))
	}
	rows = max(rows, foldedRows(in[0], in[1]))
	switch {
	case out[0].DType() == array.F64:
		n += Scratch[float64](rows, cols, k)
	case out[0].DType().IsFloat():
		n += Scratch[float32](rows, cols, k)
	}
	return n
}

// matrices returns the operands of MatMul with vectors seen as matrices.
func matrices(out, in []*array.Array) (outs, ins []*array.Array) {
	x, y, o := in[0], in[1], out[0]
	if x.Rank() > 1 && y.Rank() > 1 {
		return out, in
	}
	if y.Rank() == 1 {
		y, o = array.Unsqueeze(y, 1), array.Unsqueeze(o, -1)
	}
	if x.Rank() == 1 {
		x, o = array.Unsqueeze(x, 0), array.Unsqueeze(o, -2)
	}
	return []*array.Array{o}, []*array.Array{x, y}
}

// plainMatrices reports whether a can be read by Gemm as it lies: its last two
// dimensions are a row-major or column-major matrix of a computing type.
func plainMatrices(a *array.Array, d array.DType) bool {
	_, _, ok := matrixLayout(a)
	return ok && !operand.IsHalf(d)
}

// matrixLayout returns how Gemm must read the last two dimensions of a.
func matrixLayout(a *array.Array) (trans bool, ld int, ok bool) {
	r, c := a.Dim(-2), a.Dim(-1)
	s := a.Strides()
	sr, sc := s[len(s)-2], s[len(s)-1]
	switch {
	case (sc == 1 || c == 1) && (sr >= c || r == 1):
		return false, max(sr, c), true
	case (sr == 1 || r == 1) && (sc >= r || c == 1):
		return true, max(sc, r), true
	}
	return false, 0, false
}

// foldedRows returns the rows of the single product that a matrix a with
// leading dimensions and a plain matrix b amount to, else 0.
func foldedRows(a, b *array.Array) int {
	if a.Dim(-1) == 0 || b.Rank() != 2 {
		return 0
	}
	return a.Len() / a.Dim(-1)
}

// matOperand is one operand of a batched product: where its matrices lie.
type matOperand[T operand.Real] struct {
	data    []T
	shape   []int // leading dimensions
	strides []int // of those, or nil when data is a row-major copy
	trans   bool
	ld      int
	at      int
	size    int // elements of one matrix, for a copy
}

func loadMatrices[T operand.Real](w *par.Workspace, a *array.Array) matOperand[T] {
	lead := a.Rank() - 2
	m := matOperand[T]{shape: a.Shape()[:lead], size: a.Dim(-1) * a.Dim(-2)}
	if plainMatrices(a, a.DType()) && a.DType() == array.DTypeOf[T]() {
		m.data, m.strides, m.at = array.Raw[T](a), a.Strides()[:lead], a.Offset()
		m.trans, m.ld, _ = matrixLayout(a)
		return m
	}
	m.data, m.ld = operand.Load[T](w, a), a.Dim(-1)
	return m
}

// matrix returns the matrix at position i of the broadcast leading dimensions.
func (m *matOperand[T]) matrix(lead []int, i int) []T {
	at, step := m.at, m.size
	for d := len(lead) - 1; d >= 0; d-- {
		x := i % lead[d]
		i /= lead[d]
		own := d - (len(lead) - len(m.shape))
		if own < 0 {
			break
		}
		if m.shape[own] == 1 {
			continue
		}
		if m.strides != nil {
			at += x * m.strides[own]
			continue
		}
		at += x * step
		step *= m.shape[own]
	}
	return m.data[at:]
}

func matMulReal[T operand.Real](w *par.Workspace, out, a, b *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	m, n, k := out.Dim(-2), out.Dim(-1), a.Dim(-1)
	dst := operand.Result[T](w, out)
	switch {
	case k == 0:
		clear(dst)
	case b.Rank() == 2 && a.IsContiguous():
		y := loadMatrices[T](w, b)
		Gemm(w, false, y.trans, a.Len()/k, n, k, operand.Load[T](w, a), k, y.data[y.at:], y.ld, dst, n, false)
	default:
		x, y := loadMatrices[T](w, a), loadMatrices[T](w, b)
		lead := out.Shape()[:out.Rank()-2]
		if inBatch[T](out.Len()/(m*n), m, n, k) {
			multiplyBatch(w, asFloats(x), asFloats(y), lead, out.Len()/(m*n), m, n, k, operand.AsFloat32(dst))
			break
		}
		for i := range out.Len() / (m * n) {
			Gemm(w, x.trans, y.trans, m, n, k, x.matrix(lead, i), x.ld, y.matrix(lead, i), y.ld, dst[i*m*n:], n, false)
		}
	}
	operand.Store(out, dst)
	w.Release(mark)
}

// matMulInt multiplies in place through the strides; integers are rare here. A row
// of c is added to in place, so that b is read along its rows where it has unit
// stride.
func matMulInt[T operand.Integer](_ *par.Workspace, out, a, b *array.Array) {
	dst := array.Data[T](out)
	if len(dst) == 0 {
		return
	}
	clear(dst)
	x, y := array.Raw[T](a), array.Raw[T](b)
	m, n, k := out.Dim(-2), out.Dim(-1), a.Dim(-1)
	lead := out.Shape()[:out.Rank()-2]
	sa, sb := a.Strides(), b.Strides()
	ar, ac := sa[len(sa)-2], sa[len(sa)-1]
	br, bc := sb[len(sb)-2], sb[len(sb)-1]
	for i := range out.Len() / (m * n) {
		pa, pb := matrixOffset(a, lead, i), matrixOffset(b, lead, i)
		c := dst[i*m*n : (i+1)*m*n]
		for r := range m {
			row := c[r*n : (r+1)*n]
			for p := range k {
				v, at := x[pa+r*ar+p*ac], pb+p*br
				for q := range row {
					row[q] += v * y[at]
					at += bc
				}
			}
		}
	}
}

// matrixOffset returns where the matrix at position i of the broadcast leading
// dimensions lead begins in a's storage.
func matrixOffset(a *array.Array, lead []int, i int) int {
	at, skip := a.Offset(), len(lead)-(a.Rank()-2)
	for d := len(lead) - 1; d >= skip; d-- {
		if a.Dim(d-skip) != 1 {
			at += i % lead[d] * a.Strides()[d-skip]
		}
		i /= lead[d]
	}
	return at
}

// Linear computes in[0] [..., K] · in[1]ᵀ [N, K], plus in[2] [N] when present,
// as torch.nn.functional.linear does. Float element types.
//
//gofx:kernel
type Linear struct{}

// Run implements Step.
func (Linear) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		linear[float64](w, out[0], in[0], in[1], operand.At(in, 2))
	} else {
		linear[float32](w, out[0], in[0], in[1], operand.At(in, 2))
	}
}

// ScratchBytes implements Scratcher.
func (Linear) ScratchBytes(out, in []*array.Array) int {
	n := operand.StoreBytes(out[0]) + operand.LoadBytes(in[0]) + operand.LoadBytes(operand.At(in, 2))
	if !plainMatrices(in[1], in[1].DType()) {
		n += operand.LoadBytes(in[1])
	}
	if out[0].Len() == 0 {
		return n
	}
	rows, cols, k := out[0].Len()/out[0].Dim(-1), out[0].Dim(-1), in[0].Dim(-1)
	if out[0].DType() == array.F64 {
		return n + Scratch[float64](rows, cols, k)
	}
	return n + Scratch[float32](rows, cols, k)
}

func linear[T operand.Real](w *par.Workspace, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	n, k := weight.Dim(0), weight.Dim(1)
	dst := operand.Result[T](w, out)
	rows := len(dst) / n
	b := operand.Load[T](w, bias)
	if operand.IsFloat32[T]() && k > 0 {
		m := loadMatrices[T](w, weight)
		CheckOperand("weight", n, k, m.trans, len(m.data)-m.at, m.ld)
		p := Product{M: rows, N: n, K: k, A: operand.AsFloat32(operand.Load[T](w, x)), Lda: k, transB: !m.trans,
			B: operand.AsFloat32(m.data[m.at:]), Ldb: m.ld, C: operand.AsFloat32(dst), Ldc: n}
		if b != nil {
			p.End = Finish{biasCol: operand.AsFloat32(b)}.With(operand.Epilogue{})
		}
		multiplyPlain(w, p)
		operand.Store(out, dst)
		w.Release(mark)
		return
	}
	if b != nil {
		for i := range rows {
			copy(dst[i*n:(i+1)*n], b)
		}
	}
	if k == 0 {
		if b == nil {
			clear(dst)
		}
	} else {
		m := loadMatrices[T](w, weight)
		Gemm(w, false, !m.trans, rows, n, k, operand.Load[T](w, x), k, m.data[m.at:], m.ld, dst, n, b != nil)
	}
	operand.Store(out, dst)
	w.Release(mark)
}
