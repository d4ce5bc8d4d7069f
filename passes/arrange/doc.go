// Package arrange holds the passes that bring calls into another
// order or form: Moves joins, cancels and moves transposes and reshapes,
// and Halve computes parts of a graph in another float type.
//
// It stands next to fusion, above simplify, and uses simplify's layouts of views. A pass that
// changes numbers says by how much, and is in no default pipeline. Read moves.go first.
package arrange
