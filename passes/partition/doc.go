// Package partition cuts graphs into sub-graphs and calls of them: Split by a function
// of the nodes, Reroll by what repeats. Both stand on graph.Outline and keep what the
// graph computes.
//
// It stands above passes. It names no operator. Read split.go first, then reroll.go.
package partition
