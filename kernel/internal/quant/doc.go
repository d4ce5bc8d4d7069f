// Package quant computes 8-bit products, convolutions, pools and elementwise steps on
// affinely quantised bytes, exactly: sums are integers, rescaled in f32 once.
//
// Weights are packed in panels of 32 columns, groups of four along k, with sums of
// columns, which correct for zero points; a tile of rows by the columns of a panel of
// 32-bit sums stays in registers. AVX-512 VNNI makes bytes of them as it stores them,
// elsewhere a second pass over the tile does, in the first cache. AVX-512 VNNI and
// Armv8.2 have instructions for groups of four, others multiply in 16 bits. Large
// products are bound by those instructions or by packed weights that no near cache
// holds, elementwise steps by memory. Read qgemm.go first.
package quant
