// Package quant holds the passes of quantisation. Quantised values are tensors of u8
// and i8; what they stand for is said by quantize and dequantize, whose scales and zero
// points are operands. Operators on floats between the two are the reference form,
// which every engine runs.
//
// Lower rewrites it into operators on quantised values, where op/std has them
// (q_linear, q_conv2d, ...), and says of every other candidate why it stays in float.
// It stands behind functionalize, const-fold and fusion. The package names operators,
// and knows nothing of targets. Read lower.go first.
package quant
