// Package shape describes tensors symbolically: dimensions that are numbers or
// integer expressions over named symbols, shapes of known or unknown rank, and
// types. It owns the arithmetic of sizes, their text, the relations that guards are
// made of and the solver that derives symbols from equalities.
//
// It is one of the lowest rooms: no fmt, no reflection, generated code may import it.
// It does not hold data (package array does) and knows no graph: where a symbol comes
// from is graph's. Read dim.go first, then type.go and solver.go.
package shape
