// Package module prints a graph as Go over the tensor API: what was captured, as a
// person would write it, which runs and can be traced again to the same graph. It
// stands beside the interpreter, before any lowering: it sees the operators of the
// graph, knows none by name, and prints each call by the operator's record (op/api).
// It does not change what is computed, and optimises nothing.
//
// Print makes a printer, whose parts have one job each:
//
//	packages.go  imports, identifiers, what the package can name
//	state.go     where the tensors are: in the user's module (root.go, assert.go) or a struct
//	nodes.go     the walk over the nodes
//	writer.go    values and statements; define.go the results of calls
//	call.go      calls of operators and leaf modules
//	size.go      sizes and guards
//	region.go    cond, while and scan
//	result.go    the results
//	split.go     cuts long functions
//	function.go  writes the functions
//
// Read printer.go first, then nodes.go.
package module
