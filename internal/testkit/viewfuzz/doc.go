// Package viewfuzz aims random chains of views at the code that decides the layout
// of views: op.Layout, and through it the passes that cancel, join and move views, the
// plans that let views lie in the memory of their operands, and generated code. Sizes are
// sums, products, quotients and remainders of symbols, so that many of them are equal, or
// 1, for small sizes and differ for others.
//
// Build makes the chain of a seed, always the same one. Sets gives it sizes. The tests
// compare the interpreter of the chain as it is with plans of the chain after the default
// passes, at 20 sets of sizes each, and some with generated code. mutate.go holds faults
// of the decision, which the chains must find.
//
// The tests read the environment: GOFX_VIEWS_FIRST is the first seed, GOFX_VIEWS_COUNT the
// number of chains, GOFX_VIEWS_MUTATION runs the mutations whose names match it.
package viewfuzz
