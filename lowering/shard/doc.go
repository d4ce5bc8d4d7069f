// Package shard says how a graph runs on many devices: the author says of some tensors along
// which axes of a mesh they are cut, Propagate finds the layout of every other value, and
// what the devices have to exchange.
//
// It stands above lowering and names no operator and no target: how a call can be computed
// in parts its kernel's step says (kernel.Cutter), and calls of which no step does are
// expanded into others first (package passes/expand). lowering/xla writes the layouts into
// a program; XLA's partitioner then makes that of one device, with the exchanges of the plan.
// Nothing is run here.
//
// Stages cuts a graph along a third direction, into programs that devices run one behind
// the other (pipeline parallel), each of which may be propagated over a mesh of its own.
// Plan.Estimate is what a described device and links are predicted to take.
//
// Read mesh.go first, then propagate.go, exchange.go, stage.go.
//
// Ref: Xu et al., GSPMD, arXiv:2105.04663; Shoeybi et al., Megatron-LM, arXiv:1909.08053.
package shard
