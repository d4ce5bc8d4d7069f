// Package tracer records a Go function or module into a graph by running it once
// on proxy tensors: torch.fx's symbolic tracing. It owns capture: which calls
// become nodes, what is a leaf, where a node comes from, which eager tensors are
// state, and what is said of a mistake. Views, writes in place and regions are those
// of tracer/record, the recorder that engines share. It is a tensor.Engine; it stands
// above graph and hands a graph.Module to passes and engines.
//
// Capture never specialises silently: what a proxy cannot give is a positioned
// diagnostic with a cure, all of them at once, and what was fixed on request is
// listed and guarded at entry. There is no global state: any number of traces may
// run at the same time. It knows no operator by name, and neither changes a graph
// that it has returned nor runs one.
//
// Read tracer.go first (Tracer and its options), then trace.go, the engine, and what it
// gives the recorder: program.go (nodes and regions) and policy.go (eager tensors).
// scope.go and receiver.go find whose Forward runs. fx.Trace is the usual way in.
package tracer
