// Package npy reads and writes NumPy's .npy files (numpy.lib.format, versions
// 1.0, 2.0 and 3.0): one array of numbers or booleans, of either byte order, in
// C or Fortran order. Files are hostile until proved otherwise: the header is
// bounded, and memory grows with the bytes that are there, not with those that
// the header promises.
//
// It stands above array, for commands and tests; it does not read archives (.npz) or
// objects. Read npy.go first.
package npy
