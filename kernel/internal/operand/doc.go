// Package operand has what steps do with their operands before and after they compute:
// dense memory in the type that is computed in, checks of ranks and axes, and the
// epilogue that products and convolutions apply to their sums. Read operand.go first.
package operand
