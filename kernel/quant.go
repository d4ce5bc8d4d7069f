package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// 8-bit steps.
type (
	// QAdd adds two quantised tensors of one type, which broadcast: in is a, its scale
	// and zero point, b, its scale and zero point, the result's scale and zero point.
	QAdd = quant.QAdd

	// QMul multiplies two quantised tensors as QAdd adds them: the result is
	// round((a-za)·(b-zb)·(sa·sb/sy)) + zero, saturated.
	QMul = quant.QMul

	// QTable replaces each byte of in[0] by the entry of in[1], 256 elements of 8
	// bits, at its unsigned value: any function of one quantised tensor.
	QTable = quant.QTable

	// QConcat joins quantised tensors of one type along Dim: in[0] and in[1] are the
	// scale and the zero point of the result, then each tensor is followed by its own.
	QConcat = quant.QConcat

	// QEmbedding takes rows of in[1], a weight u8 or i8 [V, E], that the integers of
	// in[0] name, and dequantises them, with the scale in[2] and the optional zero point
	// in[3] of one element or one for each row.
	QEmbedding = quant.QEmbedding

	// QConv is the convolution of quantised tensors in one to three spatial
	// dimensions.
	QConv = quant.QConv

	// Quantize turns in[0] f32 into u8 or i8: round(x/scale) + zero, halves to even,
	// saturated, NaN as the least value.
	Quantize = quant.Quantize

	// Dequantize turns in[0] u8, i8 or i32 into f32: (q-zero)·scale, with in[1] and
	// in[2] as for Quantize.
	Dequantize = quant.Dequantize

	// DynamicQuantize is ONNX's DynamicQuantizeLinear of in[0] f32: out[0] u8 is x
	// quantised by the scale out[1] and the zero point out[2] that cover x's range
	// and 0.
	DynamicQuantize = quant.DynamicQuantize

	// QPackConv packs in[0], a weight [M, C/Groups, kernel...] of i8 or u8, into
	// out[0], a vector of QConvPackedBytes i8, for QConv with Packed and the same
	// groups and dilation.
	QPackConv = quant.QPackConv

	// QPackLinear packs in[0], a weight [n, k] of i8 or u8, into out[0], a vector of
	// QLinearPackedBytes(n, k) i8, for QLinear with Packed.
	QPackLinear = quant.QPackLinear

	// QLinear is a linear layer on quantised tensors.
	QLinear = quant.QLinear

	// QMatMul multiplies in[0] [..., m, k] by in[3] [..., k, n], both u8 or i8, with
	// the operands, results and options of QLinear; leading dimensions broadcast.
	QMatMul = quant.QMatMul

	// PackedQ is a k×n matrix of 8-bit weights laid out for products with unsigned
	// bytes, with the sum of each column, by which zero points are corrected.
	PackedQ = quant.PackedQ

	// QMaxPool is MaxPool of a quantised tensor [N, C, spatial...], or [N,
	// spatial..., C] with ChannelsLast: the scale and the zero point stay, and
	// padding never wins.
	QMaxPool = quant.QMaxPool

	// QAvgPool is AvgPool of a quantised tensor, laid out as for QMaxPool: in[0] x,
	// its scale and zero point, the result's scale and zero point (nil for those of
	// x, or 0).
	QAvgPool = quant.QAvgPool
)

// QConvPackedBytes is the length of the i8 vector that QPackConv writes for a
// weight of this shape, [M, C/groups, kernel...].
func QConvPackedBytes(weight []int, groups int, dilation []int) int {
	return quant.QConvPackedBytes(weight, groups, dilation)
}

// QGemm computes c = a·b for a row-major m×k matrix of unsigned bytes and packed
// signed ones; sums are int32 and wrap around. c, m×n with leading dimension
// ldc, must not overlap a. The result is the same on every machine and for
// every number of threads. It panics when a slice is too short.
func QGemm(w *Workspace, m int, a []uint8, lda int, b *PackedQ, c []int32, ldc int) {
	quant.QGemm(w, m, a, lda, b, c, ldc)
}

// QLinearPackedBytes is the length of the i8 vector that QPackLinear writes for
// a weight of n rows and k columns; 0 when that is beyond what a slice can hold.
func QLinearPackedBytes(n, k int) int {
	return quant.QLinearPackedBytes(n, k)
}

// PackQ packs a k×n matrix b, row-major with leading dimension ldb; with transB
// b is n×k. It panics when b is too short.
func PackQ(transB bool, n, k int, b []int8, ldb int) *PackedQ {
	return quant.PackQ(transB, n, k, b, ldb)
}
