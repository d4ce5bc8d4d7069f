// Package operand prepares the operands of steps and finishes their results: dense
// memory in the type that is computed in, checks of ranks and axes, and the epilogue
// that products and convolutions apply to their sums. Read operand.go first.
package operand
