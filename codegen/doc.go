// Package codegen writes Go source: from a graph in module style (readable code
// over the tensor API, which can be traced again), or from a plan in kernel style
// (a self-contained package that calls kernels). It builds with jennifer, returns
// files and writes nothing to disk. The bytes depend on the graph and the options
// alone. It knows no operator by name: calls are printed from the operators'
// records, kernels from their step structs.
//
// The package is a front with the names that its users need.
// Package module prints graphs as they were captured, package kernelstyle
// prints the plans of lowering/cpu, and package graphtable many of them, as the graphs of a lazy
// session; they stand on gosrc, their common Go. They do not lower, optimise or execute anything. Read codegen.go first,
// then module/printer.go or kernelstyle/print.go.
package codegen
