// Package partition cuts graphs into sub-graphs and calls of them: Split by a function
// of the nodes, Propose and Fuse by a predicate, Reroll by repetitions. All stand on
// graph.Outline and do not change the results of the graph.
//
// It stands above passes. It names no operator, and does not know the target of a part:
// lowering.Split gives parts to targets. Read propose.go first, then fuse.go, then
// reroll.go.
package partition
