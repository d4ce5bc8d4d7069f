// Package quant computes 8-bit products, convolutions, pools and elementwise steps on
// affinely quantised bytes, exactly: sums are integers, rescaled in f32 once.
//
// Weights are packed in groups of four along k with sums of columns, which correct for
// zero points; a tile of rows by columns of 32-bit sums stays in registers, and becomes
// bytes as it is stored. AVX-512 VNNI and Armv8.2 have instructions for groups of four,
// others multiply in 16 bits. Large products are bound by those instructions or by
// packed weights that no near cache holds. Read qgemm.go first.
package quant
