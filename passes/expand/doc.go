// Package expand holds the table that writes kernel operators with fewer ones. A target that
// has rules for these few can run every operator, and a gradient only needs to know these.
//
// About 130 operators of op/std are kernels of the CPU target, because each is faster
// there as one loop. A new target, or an engine that differentiates, wants
// fewer. They give Table to lowering.Legalize (or to simplify.ExpandExcept), which
// expands the calls that the target has no rule for; a target keeps its rule for softmax or
// lstm by accepting the call. The CPU target passes no table.
//
// # The primitives
//
// Every call, unless it is refused, expands into these:
//
//   - every operator with an expression (elementwise, factories with an index, random
//     words among them);
//   - movement: reshape, permute, expand, slice, cat, pad with a constant, flip,
//     bitcast, clone;
//   - reductions: sum, prod, amax, amin; windows: max_pool and avg_pool of 1 to 3
//     dimensions;
//   - contraction: bmm, and conv of 1 to 3 dimensions padded with zeros;
//   - indexed: gather, index_select, scatter (overwriting), scatter_reduce;
//   - sort.
//
// Primitives lists them. Operators that are neither a primitive nor in the table have a
// reason in Reasons: sizes that follow from values, effects, elimination with pivots.
// A call that the table has an entry for and cannot expand gives its reason in the error
// of Legalize.
//
// # What an expansion promises
//
// Integers and movement give the same bits. Floats agree within op.Tol, as far as
// nothing leaves the range of the type that is computed in: f16 and bf16 are computed in
// f32, f32 and f64 in themselves, where some kernels of the CPU have f64 in between
// (sums of values beyond 1e38 whose mean is not). NaN, infinities and zero sizes are as
// in the kernel; positions that a kernel does not read do not reach the result. Indices
// that a kernel refuses when it runs are refused by the gather that is made of it.
//
// Sizes may be symbols: expansions ask for a number only where the count of nodes
// follows from it (the steps of an lstm, the rounds of a running sum), and say so.
//
// It names operators and no target, and stands above passes/simplify, whose engine runs
// it and names none. Read table.go first, then move.go.
package expand
