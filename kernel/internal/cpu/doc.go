// Package cpu detects the features of the processor: the level of its
// vector instructions (GOFX_CPU lowers it), a few extensions, and the sizes of
// its caches (GOFX_CACHE replaces them). Families branch on Host where they call
// assembly, and derive sizes of blocks from Cache (cache.go); nothing is registered.
// Read cpu.go first.
package cpu
