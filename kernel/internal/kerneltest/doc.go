// Package kerneltest has the tools that tests of kernels share: arrays of references
// in f64, definitions of convolutions, memory between guard pages, and levels to run
// at. Tests alone import it. Read reference.go first.
package kerneltest
