// Package narrow multiplies by weights that are stored in 16 bits (HalfLinear), in 8
// (Int8Linear) or in groups of 4 (Int4Linear, as ONNX Runtime's MatMulNBits has them;
// Int4Embedding takes rows of those): widened in registers for up to 16 rows (48 of 4 bits with AVX-512), a block of
// columns at a time for more, then multiplied by package gemm. Few rows are bound by
// reading the weights, many by multiply-adds. BlockLinear has weights in blocks of GGUF's;
// BlockLinearDynamic multiplies these by activations of 8 bits. Read int4.go first.
package narrow
