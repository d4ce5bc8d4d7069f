// Package rules holds the analyzers of fxvet. Each has the name of what it looks at: fxdata
// reads of data, fxwrite writes in place, fxkeep values that are kept, fxsteady what differs from
// call to call, fxstate the names of state, fxwrap opaque functions, fxattr constant attributes,
// fxscope calls whose scope the graph loses.
//
// They report what a trace would refuse, in the words and with the code of package diag, at the
// expression. What a value is, package flow finds out; docs/fxvet.md shows each rule. Read
// rules.go first.
package rules
