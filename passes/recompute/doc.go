// Package recompute trades time for memory in a graph of values and gradients: what the
// backward half reads of the forward half is computed again just before it is read, instead of
// being kept in between.
//
// The pass works on the graph that grad.ValueAndGrad makes, before it is optimised: grad.Backward
// marks the backward half. What is computed again is a cut through the forward half, between what
// must not or should not be computed again and what the backward half reads: the values of the
// cut are kept, and what lies after it is computed again from them. The cheapest cut by bytes is a
// minimum cut of a network (Ford and Fulkerson, "Maximal Flow through a Network", 1956), as in
// PyTorch's AOTAutograd; recomputing within named modules is that of Chen, Xu, Zhang and Guestrin,
// "Training Deep Nets with Sublinear Memory Cost", 2016.
//
// A repeated call is an ordinary call. It reads kept values through op/std's barrier, so that no
// pass takes it for the first one. The barrier is in the text form, in plans and in generated code
// as every operator is, and takes no memory. Results are the same bit for bit, because operators
// are functions of their operands, random numbers of their keys included. Nothing that acts, that
// reads state which the graph writes, or that has bodies is computed again.
//
// Read recompute.go first, then halves.go, which finds what can be computed again, cut.go and
// rewrite.go. The package does not look into the bodies of control flow, and moves nothing to
// slower memory.
package recompute
