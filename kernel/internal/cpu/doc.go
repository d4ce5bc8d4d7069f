// Package cpu says what this process may use of its processor: the level of its
// vector instructions, which GOFX_CPU lowers, and a few extensions beside. Families
// branch on Host where they call assembly; nothing is registered. Read cpu.go first.
package cpu
