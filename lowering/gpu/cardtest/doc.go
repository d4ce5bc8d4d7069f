// Package cardtest is a test binary for machines that have NVIDIA's driver and nothing else: it brings
// the kernels of networks and of operators' samples as PTX, and what they must give. `make card` writes
// it; docs/devices.md says how it is run and what it prints.
//
// The suite, kernels and expected results, is made where a compiler and time are: TestMake compiles what
// gpu.Target.Text gives and runs the interpreter. TestCard builds the same graphs on the other machine, weights
// by formula, and looks results up. Nothing of it is part of the library. Read job_test.go first.
package cardtest
