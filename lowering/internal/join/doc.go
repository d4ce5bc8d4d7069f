// Package join finds calls of a graph that one step can compute element by
// element, and writes them as one expression over their operands.
//
// It stands below the targets that compute such steps, lowering/cpu and lowering/gpu, which
// tell it their other steps and the limits of one step. It knows no operator by name:
// it joins a call if its operator has an expression, whether built-in or a user's. It
// does not decide which calls before or after a group are in the same step. Read join.go
// first, then expression.go; decision 0072 says why there is one such room.
package join
