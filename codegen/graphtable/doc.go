// Package graphtable prints the graphs of a lazy session as a package: a kernel-style model for
// each (package kernelstyle), whose weights the session gives, and the table by which the
// session finds them (package lowering/generated).
//
// It stands above kernelstyle and below codegen, the front. It neither records nor plans.
// Read graphtable.go first.
package graphtable
