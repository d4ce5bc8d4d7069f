// Package partition cuts graphs into sub-graphs and calls of them: Split by a function
// of the nodes, Propose and Fuse by a predicate, Reroll by what repeats. All stand on
// graph.Outline and keep what the graph computes.
//
// It stands above passes. It names no operator, and does not know what runs a part:
// lowering.Split gives parts to targets. Read propose.go first, then fuse.go, then
// reroll.go.
package partition
