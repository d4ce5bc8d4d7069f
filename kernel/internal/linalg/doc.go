// Package linalg has determinants and inverses of square matrices, from one LU
// factorisation with partial pivoting.
//
// The factorisation is recursive as in Toledo, "Locality of Reference in LU Decomposition
// with Partial Pivoting" (1997): the left half of the columns is factored, the rows to its
// right are solved for, the block below them gets a product of package gemm, and the right
// half follows. Triangular systems and inverses are halved in the same way, so that nearly
// all of the work of large matrices is in products. Multipliers and elements above the
// diagonal are kept negated, so that every product adds to the present values. Matrices of up to
// smallOrder rows are done by loops over rows. Those of a batch run in parallel
// lanes, each with its own scratch; large ones run one after the other, each on all threads.
// The result of a matrix depends on its size alone, not on the number of threads.
// Large ones are bound by multiply-adds, small ones by divisions and the latency of the
// search for pivots. Read lu.go first.
package linalg
