// Package vmath computes exp, log, tanh, erf and their like over slices: in Go, whose
// bits are the reference, and in a strip machine of assembly that runs a list of steps
// over strips of elements.
//
// Every product and every sum is rounded by itself (except fused operations whose
// product or result is exact), so that all machines give the same bits. Ranges are
// reduced as Cody and Waite do; tables and polynomials are of our own. A strip (128
// elements with AVX-512, else 64) stays in registers from step to step, or in slots in
// the first cache. Few operations over large arrays are bound by memory, long chains
// by arithmetic. Read vmath.go first.
package vmath
