// Package schedule orders the nodes of a graph so that work on other processors and hosts
// overlaps with work here: the software pipelining of torch.fx's paper, section 6.2.3
// (Reed et al., 2022).
//
// The key On of a node names the resource that runs it; a node without the key runs on the
// host, which walks the graph in its order. A node of another resource is issued: the host goes
// on, and the resource computes what was issued to it one after the other, each when its
// operands have arrived. Where the host needs such a value, the graph has the operator
// wait, which has an effect, so that no other pass moves or removes it. A call of control flow
// runs on one resource with its bodies: how often these run, and which, is known only
// afterwards, so that nothing can be ordered across their border.
//
// Overlap inserts waits and orders nodes; Simulate predicts when each node runs on a
// described Machine; Run executes a graph in this way, with one
// goroutine for each resource, over an interpreter. Check finds values that the host would read too early.
//
// Place records where nodes run: the caller's choice, or that of a Fleet of devices,
// by their memory (BySize) or by time (ByCost).
//
// It stands next to the other passes, above interp. It depends only on the effects of
// operators, not on their meaning. Read machine.go first, then depend.go, then devices.go.
package schedule
