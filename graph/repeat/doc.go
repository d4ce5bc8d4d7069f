// Package repeat finds what repeats in a sequence: groups of neighbouring items that
// follow each other and are the same, such as the layers of a transformer. Find
// works on any items; Signature describes nodes of a graph so that groups with equal
// descriptions are isomorphic: the same operators, attributes and types, wired alike.
//
// It stands above graph. Drawing folds what it finds, passes/partition makes calls of
// one sub-graph of it. It changes nothing. Read find.go first.
package repeat
