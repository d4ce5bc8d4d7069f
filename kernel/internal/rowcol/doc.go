// Package rowcol has the loops over single rows and single columns of f32 that
// reductions, norms and softmax are made of: extremes, sums, squares, x*scale + shift,
// exponentials.
//
// Rows are summed in f64, in 32 lanes that are added by halves, so that all levels
// give the same bits. Data that is read once is prefetched; from the second cache on,
// memory bounds these loops, within it the conversion to f64. Read affine.go first.
package rowcol
