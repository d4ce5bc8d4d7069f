// Package kernelstyle prints a plan as a package that calls kernels: the same
// steps that lowering/cpu runs, with the same arena, as Go that needs no graph. It
// stands behind lowering: sizes, kernels and places of values are in the plan, and
// nothing here chooses one. It does not optimise, and it runs nothing but the
// kernels' questions about scratch memory.
//
// Print decides first and prints then: newModel checks the plan, newPkg lets outline
// find repeated blocks and gives everything a name, after the model's own modules
// (hints.go), and a place; a printer for each part of the package writes it:
//
//	entry.go     the package comment, the model's type, New, Load, Reload
//	results.go   the structs of results
//	forward.go   Forward, ForwardInto, run
//	checks.go    the check of the inputs
//	peak.go      PeakBytes
//	state.go     the state of a call and its layout; table.go that of blocks
//	kept.go      the State that the caller owns, which calls change
//	flow.go      control flow: how steps run bodies, and the bodies
//	kernels.go   how each step reaches its kernel
//	steps.go     the calls of the kernels, and their comments
//	blocks.go    repeated blocks
//	scratch.go   the scratch memory that the steps need
//	weights.go   the struct of weights, and the file; literals.go their numbers
//	tests.go     how tests of the package call it
//
// examples/digits holds what is printed: go generate -C examples/digits ./... after a
// change. Read print.go first.
package kernelstyle
