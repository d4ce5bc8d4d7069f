// Package schedule orders the nodes of a graph so that work on other processors and hosts
// overlaps with work here: the software pipelining of torch.fx's paper, section 6.2.3
// (Reed et al., 2022).
//
// A node says by the key On which resource runs it; what says nothing runs on the host,
// which walks the graph in its order. A node of another resource is issued: the host goes
// on, and the resource computes what was issued to it one after the other, each when its
// operands have come to it. Where the host needs such a value stands the operator wait,
// which has an effect, so that no other pass moves or removes it. A call of control flow
// runs on one resource with its bodies: how often these run, and which, is known when it
// has, so that nothing can be ordered across their border.
//
// Overlap inserts waits and orders nodes; Simulate predicts when each node runs on a
// described Machine; Run executes a graph so, one goroutine a resource, over an
// interpreter. Check finds what the host would read too early.
//
// Place writes down where nodes run: what the caller decides, or a Fleet of devices by
// their memory (BySize) and by time (ByCost).
//
// It stands beside the other passes, above interp. Nothing here depends on what operators
// mean: only on their effects. Read machine.go first, then depend.go, then devices.go.
package schedule
