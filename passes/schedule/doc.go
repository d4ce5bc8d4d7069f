// Package schedule orders the nodes of a graph so that work on other processors and
// hosts overlaps with work here: the software pipelining of torch.fx's paper, section
// 6.2.3 (Reed et al., 2022).
//
// A node says by the key On which resource runs it; what says nothing runs on the host,
// which walks the graph in its order. A node of another resource is issued: the host
// goes on, and the resource computes what was issued to it one after the other, each
// when its operands have come to it. Where the host needs such a value stands the
// operator wait, which has an effect, so that no other pass moves or removes it.
//
// Overlap inserts waits and orders nodes; Simulate predicts when each node runs on a
// described Machine; Run executes a graph so, one goroutine a resource, over an
// interpreter. Check finds what the host would read too early.
//
// It stands beside the other passes, above interp. It does not decide where nodes run
// (Place records what the caller decides), and nothing here depends on what operators
// mean: only on their effects. Read machine.go first, then depend.go.
package schedule
