// Package rule holds what a rule of an ONNX operator is, and what it works on. A Rule is a
// value: a small function over a Call, which has a node's operands and attributes and calls
// the operators of op/std. It does not hold rules; standard, contrib and ml do.
//
// A Datum is the meaning of a name of the model: a constant, sizes over the symbols of the
// inputs, or a node. A rule is run with a builder that computes where all operands are
// constants or sizes (fold.go, symbolic.go); otherwise the builder makes nodes.
// The Draft is the graph that is made, with what is known of its sizes: which must hold
// (claims.go, least.go), which a run finds (measure.go), and what would make them known
// (cures.go).
//
// Read rules.go first, then call.go, datum.go and draft.go.
package rule
