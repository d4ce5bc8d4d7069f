package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/narrow"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Products of matrices.
type (
	// MatMul multiplies in[0] [..., m, k] by in[1] [..., k, n] as torch.matmul does
	// does: leading dimensions broadcast, a vector is a row on the left and a column
	// on the right, whose dimension the result lacks.
	MatMul = gemm.MatMul

	// Linear computes in[0] [..., K] · in[1]ᵀ [N, K], plus in[2] [N] when present,
	// as torch.nn.functional.linear does.
	Linear = gemm.Linear

	// PackedB is the k×n right operand of float32 products, laid out once for the
	// processor that the program runs on: a weight, packed when it is loaded.
	PackedB = gemm.PackedB

	// PackLinear packs in[0], the weight [N, K] of a linear layer in f32, f16 or
	// bf16, for LinearPacked: out[0] is f32 [PackedLen(K, N)].
	PackLinear = gemm.PackLinear

	// LinearPacked is Linear with a weight that PackLinear packed, and an epilogue:
	// in[0] [..., K], in[1] the packed weight, then bias [N], scale [N] and residual
	// [..., N], each nil when absent.
	LinearPacked = gemm.LinearPacked
)

// Gemm computes c = op(a)·op(b), or c += op(a)·op(b) with acc, where op
// transposes when its flag is set, op(a) is m×k, op(b) is k×n and c is m×n, all
// row-major with the given leading dimensions. c must not overlap a or b. It
// runs on w.Threads goroutines; the result does not depend on their number.
// With assembly, float32 sums use fused multiply-adds: every level is within
// (k+2)·2⁻²³·Σ|a·b| of the exact sum. Operands that are too short panic.
func Gemm[T float32 | float64](w *Workspace, transA, transB bool, m, n, k int,
	a []T, lda int, b []T, ldb int, c []T, ldc int, acc bool) {
	gemm.Gemm[T](w, transA, transB, m, n, k, a, lda, b, ldb, c, ldc, acc)
}

// PackedLen returns the elements that a k×n right operand takes when packed.
func PackedLen(k, n int) int {
	return gemm.PackedLen(k, n)
}

// PackB packs op(b), k×n, which is b transposed with transB; see Gemm.
func PackB(w *Workspace, transB bool, k, n int, b []float32, ldb int) PackedB {
	return gemm.PackB(w, transB, k, n, b, ldb)
}

// Products whose weights are stored in 16 and in 4 bits.
type (
	// HalfLinear is torch.nn.functional.linear with the weight stored in 16 bits and
	// computed in float32: in[0] x [..., k], in[1] the weight [n, k] f16 or bf16,
	// in[2] an optional bias [n]; the result is [..., n].
	HalfLinear = narrow.HalfLinear

	// PackHalf rounds in[0], the weight [N, K] of a linear layer in f32, to DType, f16
	// or bf16, for HalfLinear.
	PackHalf = narrow.PackHalf

	// PackInt4 lays out 4-bit weights for Int4Linear: in[0] is u8 [n, ceil(k/2)], two
	// weights a byte, the even one in the lower half; out[0] is a vector of
	// Int4PackedBytes.
	PackInt4 = narrow.PackInt4

	// Int4Linear is a linear layer with weights of 4 bits, (q-zero)·scale for each
	// group of Group weights of a row, as in ONNX Runtime's MatMulNBits, unpacked in
	// registers and computed in float32.
	Int4Linear = narrow.Int4Linear
)

// Int4PackedBytes is the length of the u8 vector that PackInt4 writes for
// weights of n rows and k columns in groups of Group.
func Int4PackedBytes(n, k, group int) int {
	return narrow.Int4PackedBytes(n, k, group)
}

// What a step does to its sums before it stores them.
type (
	// Activation is the function that an epilogue clamps with.
	Activation = operand.Activation

	// Prologue is what a step does to each element of its operand before it is read: times
	// a factor of its channel, plus a term of its channel, then the activation. Factors
	// and terms are operands of the step. Each operation rounds to f32.
	Prologue = operand.Prologue

	// Epilogue is what a step does to each sum before it is stored for good: times
	// the scale of its channel, plus the bias of its channel, plus the residual, then
	// the activation, then any function of one f32, as a *Program.
	Epilogue = operand.Epilogue
)

// The activations. All of them keep NaN.
const (
	ActNone  = operand.ActNone
	ActReLU  = operand.ActReLU  // max(x, 0)
	ActReLU6 = operand.ActReLU6 // min(max(x, 0), 6)
	ActClamp = operand.ActClamp // min(max(x, Lo), Hi)
)
