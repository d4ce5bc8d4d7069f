// Package linalg has determinants and inverses of square matrices, from one LU
// factorisation with partial pivoting.
//
// The factorisation is recursive as in Toledo, "Locality of Reference in LU Decomposition
// with Partial Pivoting" (1997): the left half of the columns is factored, the rows beside
// it are solved for, the block below them gets a product of package gemm, and the right
// half follows. Triangular systems and inverses are halved in the same way, so that nearly
// all of the work of large matrices is in products. Multipliers and elements above the
// diagonal are kept negated, by which every product adds to what is there. Matrices of up to
// smallOrder rows are done by loops over rows. Those of a batch are done beside each
// other, in lanes with scratch of their own; large ones one after the other, each by all
// threads. What a matrix gives depends on its size alone and on no number of threads.
// Large ones are bound by multiply-adds, small ones by divisions and the latency of the
// search for pivots. Read lu.go first.
package linalg
