// Package api says which Go functions and methods of package tensor an operator
// of op/std has. The record of the operator is the only source: the generator of
// package tensor (internal/generators/gen) writes what this package describes, docs/ops.md lists
// it, and code generation asks it how a call is spelt.
//
// It stands next to op/std, above op. It knows no operator by name and does not write
// Go itself. Read api.go first.
package api
