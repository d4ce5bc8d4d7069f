// Package gemm multiplies matrices: dense or packed ahead, of few rows, of few columns, and
// in batches, with an epilogue on the sums.
//
// The product is blocked as in Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication" (2008), and in BLIS: a tile of rows of a by two vectors of
// columns of b is accumulated in registers, a panel of a and one of b over a block of
// k stream from the first and second cache. The first tile of a panel packs it as it
// computes. Few rows read b once as it lies; strips read panels of a where they lie.
// tuning.go is the table of sizes. Square products are bound
// by multiply-adds, those of one row by memory. Read gemm.go first.
package gemm
