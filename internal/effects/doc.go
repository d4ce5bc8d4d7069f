// Package effects says what memory a function may read or write before and while it
// computes: a list of (type, field) pairs, elements, globals, and the places of calls of
// which nothing is known.
//
// The answer is conservative. A load that the list lacks would be a silent wrong result of
// whoever trusts the list, so code that the package does not understand is opaque, and an
// address that leaves a function counts as a load and a store. Accesses are told apart by type
// and field alone, never by path: what is reached from where is the business of a walk at run
// time, which meets every type and function value again and refuses what the list lacks.
//
// Packages outside the standard library are loaded from source and built as SSA. The standard
// library is a table (std.go), and so are tensor and the rooms that it imports (trusted.go).
//
// Read summary.go first, then function.go, which looks at one function, and walk.go, which
// follows the calls. when.go and reach.go tell on which ways opaque code is reached, tell.go which of it can be made again.
// loops.go and quiet.go find loops whose rounds do the same.
package effects
