// Package op defines operators: the record of an operator, its attributes and their
// one codec, its type rule and its one meaning (Op, made by Define). Operators themselves
// live in op/std and in users' packages; only the structural ones (getitem, assign,
// dim, cond, while, scan), which engines must know, are defined here. Every difference
// between operators is in the record; no code decides by name.
//
// It stands above kernel and op/expr, in which meanings are written. It stands
// below tensors and graphs and knows nothing of them: a decomposition is written for a
// Builder. Read op.go first, then infer.go; docs/add-an-op.md is the guide.
package op
