// Package api says which Go functions and methods of package tensor an operator
// of op/std has. The record of the operator is the only source: the generator of
// package tensor (internal/generators/gen) writes the functions that this package describes, docs/ops.md
// lists them, and code generation asks it for the spelling of a call.
//
// It stands next to op/std, above op. It knows no operator by name and does not write
// Go itself. Read api.go first.
package api
