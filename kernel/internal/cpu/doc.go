// Package cpu says what this process may use of its processor: the level of its
// vector instructions, which GOFX_CPU lowers, a few extensions beside, and what its
// caches hold, which GOFX_CACHE replaces. Families branch on Host where they call
// assembly, and derive sizes of blocks from Cache (cache.go); nothing is registered.
// Read cpu.go first.
package cpu
