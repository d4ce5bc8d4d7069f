// Package compiled has programs whose calls are compiled: small functions of one model, each with its class and
// with what is expected of its calls. The tests run each of them as it is and compiled, on two worlds that are alike,
// change every word of the worlds between calls, and compare all values after each call.
//
// The constructors are generated. Read model.go first, then the programs by class.
package compiled

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go Scaled Narrow Branch Switch Unrolled Sums Sorted SortedInPlace Appends AppendsFresh Slices Copies Arrays Grids Lookup MapRange MapWrites Text Complex Shapes Pointers Literals Generic Variadic Nothing Model.Forward Layered Values Embedded Private Chained Interfaces InterfaceList Asserted Called Same Mapped Shared Nested Keyed Copied Recursive Closures Model.ByValue Lists Stores Counts Caches SameStore Swaps InPlace Globals Late Panics Item Random Clock Ranged Spawns Recovers
