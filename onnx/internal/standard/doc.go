// Package standard holds the rules of the operators of ONNX's own domain, one file a family.
// Each rule writes its operator with those of op/std, by what a rule.Call says of the node.
// Operators with bodies (If, Loop, Scan, SequenceMap) are not here: they import nodes, and
// onnx/internal/importer has them.
//
// Sequences and optionals are lists of their members, or nothing; their lengths are known
// at import.
//
// Read rules.go first (Rules), then norm.go, a short family.
package standard
