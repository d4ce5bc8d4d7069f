// Package reduce computes reductions, scans, softmax and norms along dimensions.
//
// Rows are reduced one after the other, columns strip by strip, so that accumulators
// stay in the first cache; long rows are cut into spans whose results are combined in
// order, the same for any number of threads. Sums are in f64. Elements that must be
// converted are converted in blocks that a cache holds. Memory bounds large ones. Read
// reduce.go first.
package reduce
