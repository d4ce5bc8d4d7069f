// Package lowering is the common part of targets: the contract, the options, the query
// whether a target can run a call, the preparation of a graph (a copy with the wanted results,
// pinned symbols, functions only, and composites expanded where the target has no rule),
// and Split, a target made of two. The steps are passes of simplify and shapeprop, run where a
// fact of the graph says that they are needed.
//
// It stands between passes and targets, which are the packages below it or in users'
// modules. It does not know any operator by name, nor the code that targets make of a graph. Read
// lowering.go first, then prepare.go and legalize.go, then split.go; docs/lowering.md
// tells the whole way.
package lowering
