// Package kernelstyle prints a plan as a package that calls kernels: the same
// steps that lowering/cpu runs, with the same arena, as Go that needs no graph. It
// runs after lowering: the plan has sizes, kernels and places of values, and
// this package chooses none of them. It does not optimise, and it runs only
// the kernels' queries for scratch memory.
//
// Print decides first and then prints: newModel checks the plan, newPkg lets outline
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
//	tests.go     the calls in tests of the package
//
// examples/digits holds printed packages: go generate -C examples/digits ./... after a
// change. Read print.go first.
package kernelstyle
