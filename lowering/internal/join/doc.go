// Package join finds calls of a graph that one step computes element by element, and
// writes what they compute as one expression over what they read.
//
// It stands below the targets that compute such steps, lowering/cpu and lowering/gpu, which
// say what else they have steps for and how much one step may be. It knows no operator by
// name: a call is one of these if its operator has an expression, a user's as the built-in
// ones. It does not say what precedes or follows a group in the same step. Read join.go
// first, then expression.go; decision 0072 says why there is one such room.
package join
