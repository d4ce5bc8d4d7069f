// Package half converts f16 and bf16 to f32 and back, and multiplies rows of f32 with
// weights that are stored in 16 or in 4 bits, widened in registers.
//
// Conversion is bound by memory. The products read each weight once for four rows:
// for few rows the weights' way from memory bounds them. Read convert.go first.
package half
