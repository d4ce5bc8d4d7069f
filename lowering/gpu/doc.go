// Package gpu is the target for accelerators: OpenCL devices (and CUDA ones), driven through
// libraries that are loaded at run time, without cgo. It prints kernels for a graph of known
// sizes, has the device's driver compile them, keeps the results on disk, and runs them
// on memory of the device.
//
// It does not place calls: lowering.Split gives calls without kernels here to
// another target. It has no numerics of its own: scalar expressions are those of the
// operators, and results lie within their tolerances. Package lower below it makes steps of
// a graph, package run runs them.
//
// Read target.go first, then exec.go, internal/lower and internal/run.
package gpu
