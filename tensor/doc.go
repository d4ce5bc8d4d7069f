// Package tensor is what model code computes with: a handle whose engine decides
// what a call does. Without an engine calls run at once on arrays; a tracing
// engine records them. The same model source serves both. It owns handles with their
// memory and views, sizes that may be symbolic, the interfaces of engines, control
// flow (Cond, While, Scan) and the walk over a module's tensors. Methods and functions
// over op/std are generated from the operator table (conv_gen.go for what
// op/std/conv.go defines, and so on).
//
// Mistakes panic with *diag.Error in eager mode, as an index out of range does;
// the public boundaries (fx.Trace, GraphModule.Run) turn that into an error. A
// panic in a goroutine that the user started is the user's to recover.
//
// It stands above op/std, next to graph, of which it knows nothing. It does not choose
// an engine: the operands of a call bring theirs, and In names one for calls without
// operands. Read tensor.go first, then cell.go (eager, recorded, computed) and engine.go.
package tensor

//go:generate go run ../internal/generators/gen
