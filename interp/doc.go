// Package interp runs a graph node by node: the reference semantics that every
// other engine is compared with. An Interpreter is a fold over tensors with
// hooks; because it computes with tensors, a graph that is interpreted under a
// trace is recorded again. Transformer is the same walk over nodes: it writes a
// new graph.
//
// It stands above graph and tensor, next to tracer. The driver of passes compares
// with it, and observers are its hooks. It treats operators only through their records,
// does not optimise, and keeps only the module's state between runs. Read interp.go first.
package interp
