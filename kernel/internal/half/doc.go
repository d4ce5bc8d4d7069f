// Package half converts f16 and bf16 to f32 and back, and multiplies rows of f32 with
// weights that are stored in 16, 8 or 4 bits, widened in registers; rows of 8 bits are
// multiplied with weights of 4 to 8 bits as integers (bytes.go, byteproducts.go).
//
// Conversion is bound by memory. One pass over the weights serves up to four rows,
// whose sums stay in registers: the weights' way from memory bounds the products. Read
// convert.go first.
package half
