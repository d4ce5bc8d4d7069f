// Package lower makes steps of a graph of known sizes: launches of kernels over buffers, and
// control flow, whose bodies are steps again. It judges which calls devices have kernels for,
// and gives the buffers their places in one piece of memory.
//
// It stands between lowering/gpu, which has it lower a graph, and package run, which runs
// the steps. It knows a device by its description alone, so that programs can be printed
// where there is none; the text of kernels is package source's.
//
// Read value.go first, which has what is made, then build.go, rules.go and fuse.go.
package lower
