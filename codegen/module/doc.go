// Package module prints a graph as Go over the tensor API: the captured code as
// a person would write it. The code runs, and a trace of it gives the same graph.
// The package stands next to the interpreter, before any lowering: it sees the operators
// of the graph, knows none by name, and prints each call from the operator's record
// (op/api). It does not change results and optimises nothing.
//
// Print makes a printer, whose parts have one job each:
//
//	packages.go  imports, identifiers, names that the package can use
//	state.go     the place of the tensors: the user's module (root.go, assert.go) or a struct
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
