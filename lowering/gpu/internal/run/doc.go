// Package run has what a device holds of a program, and runs it: kernels that are built or
// come from a cache, weights, and for each run at a time memory and a queue. Where the vendor's
// library computes a product faster than a kernel, which is measured once, it takes the library.
//
// It stands between lowering/gpu, whose executables find the program for their sizes, and
// package device, the interface of drivers. What is launched was decided by package lower.
//
// Read program.go first, then new.go and run.go.
package run
