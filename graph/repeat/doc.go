// Package repeat finds repetitions in a sequence: groups of neighbouring items that
// follow each other and are the same, such as the layers of a transformer. Find
// works on any items; Signature describes nodes of a graph so that groups with equal
// descriptions are isomorphic: the same operators, attributes and types, wired alike.
//
// It stands above graph. Drawing folds the repetitions, passes/partition turns them into
// calls of one sub-graph. The package changes nothing. Read find.go first.
package repeat
