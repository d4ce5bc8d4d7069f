// Package op says what an operator is: its record, its attributes and their one
// codec, its type rule and its one meaning (Op, made by Define). Operators themselves
// live in op/std and in users' packages; only the structural ones (getitem, assign,
// dim, cond, while, scan), which engines must know, are defined here. Everything that
// differs between operators is asked of the record, never decided by name.
//
// It stands above kernel and op/expr, in which meanings are written, and below
// tensors and graphs, of which it knows nothing: a decomposition is written for a
// Builder. Read op.go first, then infer.go; docs/add-an-op.md is the guide.
package op
