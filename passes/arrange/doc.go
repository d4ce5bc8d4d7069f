// Package arrange holds the passes that bring calls into another order or form with the
// same results: transposes and reshapes that are joined, cancelled and moved out of the
// way (Moves), and parts of a graph that compute in another float type (Halve).
//
// It stands beside fusion, above simplify, whose layouts of views it asks. What changes
// numbers says by how much, and is in no default pipeline. Read moves.go first.
package arrange
