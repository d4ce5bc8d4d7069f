// Package gemm multiplies matrices: dense or packed ahead, of few rows, of few
// columns, and in batches, with an epilogue on the sums.
//
// The product is blocked as in Goto and van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication" (2008), and in BLIS: a tile of rows of a by two vectors of
// columns of b is accumulated in registers over a block of k, reading a panel of b
// from the first cache and panels of a from a block that stays in the second together
// with two panels of b. The first tile of a panel packs it as it computes. Few rows read b
// once as it lies; strips read panels of a where they lie. tuning.go is
// the table of sizes. Square products are bound by multiply-adds, those of one row by
// memory. Read gemm.go first.
package gemm
