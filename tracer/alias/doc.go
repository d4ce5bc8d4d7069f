// Package alias turns writes in place into values: the one mechanism for engines
// that record. A storage has a current value, that of its base; a view is a path of
// view calls from the base. A write to a view goes back to the base by the inverses
// of the path, which the operators' records give; a view that is read after a write
// replays its path from the base. Whether a call that may copy gives a view is asked
// of the operator (op.Layout), for all sizes at once; where sizes leave that open, a
// later write makes the other side unreadable instead of guessing.
//
// It stands below tracer, which tells it of tensors, parameters and regions. It
// records through a Recorder, and does not know graphs, engines or operators by name:
// a value is anything with a type, a node of a graph or a place in an arena.
// Read alias.go first; layout.go decides what is a view.
//
// Ref: functionalisation as in functorch and LazyTensor (Suhan et al., 2021,
// section 3.4), with values for storages and views as replayed paths.
package alias
