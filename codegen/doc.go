// Package codegen writes Go source: from a graph in module style (readable code
// over the tensor API, which can be traced again), or from a plan in kernel style
// (a self-contained package that calls kernels). It builds with jennifer, returns
// files and writes nothing to disk. The bytes depend on the graph and the options
// alone. It knows no operator by name: calls are printed from the operators'
// records, kernels from their step structs.
//
// The package is a front that names what its users need. The work is done by
// module, which prints graphs as they were captured, and kernelstyle, which prints
// what lowering/cpu has planned; both stand on gosrc, the Go that they have in
// common. They do not lower, optimise or execute anything. Read codegen.go first,
// then module/printer.go or kernelstyle/print.go.
package codegen
