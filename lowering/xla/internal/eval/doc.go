// Package eval runs StableHLO programs, one element after the other, as their
// specification describes them. It is the reference of package xla's tests
// for emitted programs. It is slow: do not run models with it.
//
// It stands above internal/stablehlo, whose verified programs it takes, and knows
// nothing of graphs or operators, so that a mistake of the emitter is not repeated
// here. Read eval.go first, then scalar.go, window.go and index.go.
//
// Where the specification leaves a result to implementations it is as in XLA:
// integers wrap around, shifts beyond the width give zeros or the sign, indices out of range are
// clamped (gather, dynamic slices) or left out (scatter). Products and sums of
// dot_general and convolution are accumulated in float64 and rounded once.
package eval
