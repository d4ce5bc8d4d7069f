// Package npy reads and writes NumPy's .npy files (numpy.lib.format, versions
// 1.0, 2.0 and 3.0): one array of numbers or booleans, of either byte order, in
// C or Fortran order; and .npz archives of them, stored or deflated. Files are treated
// as hostile: the header is bounded, memory grows with the bytes present,
// not with those that the header promises, and an archive unpacks to no more than
// a hundred times its size, or 256 MiB.
//
// It stands above array, for commands and tests; it does not read objects. Read npy.go
// first, then archive.go.
package npy
