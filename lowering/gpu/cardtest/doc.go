// Package cardtest is a test binary for machines that have only NVIDIA's driver: it brings the
// kernels of networks and of operators' samples as PTX, and their expected results. `make card` writes
// it; docs/devices.md describes how to run it, and its output.
//
// The suite, kernels and expected results, is made on a machine with a compiler: TestMake compiles the
// text of gpu.Target.Text and runs the interpreter. TestCard builds the same graphs on the other machine, weights
// by formula, and looks results up. Nothing of it is part of the library. Read job_test.go first.
package cardtest
