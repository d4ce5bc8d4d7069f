// Package shard lays a graph out over many devices: the author gives the axes of a mesh
// along which some tensors are cut, and Propagate finds the layout of every other value
// and the exchanges between devices.
//
// It stands above lowering and names no operator and no target: the step of a kernel says
// how a call can be computed in parts (kernel.Cutter), and calls without such a step are
// first expanded into others (package passes/expand). lowering/xla writes the layouts into a
// program; XLA's partitioner then makes the program of one device, with the exchanges of the plan.
// This package runs nothing.
//
// Stages cuts a graph into programs that devices run one after the other
// (pipeline parallel). Each may be propagated over its own mesh. Plan.Estimate
// predicts the time of a plan on a described device and links.
//
// Read mesh.go first, then propagate.go, exchange.go, stage.go.
//
// Ref: Xu et al., GSPMD, arXiv:2105.04663; Shoeybi et al., Megatron-LM, arXiv:1909.08053.
package shard
