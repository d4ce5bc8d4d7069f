// Package ml computes the parts of classical machine learning that are neither
// products nor elementwise functions: sums over the leaves of decision trees, and probabilities
// of classes from those of pairs of classes.
//
// Trees are tables: a node is a row of integers and a threshold. A block of rows of the
// operand passes through one tree after the other, so that the nodes near the root of a
// tree stay in the first cache; sums of a block are on the stack. The latency of nodes
// that no cache holds bounds it. Tables may come from any file of weights: a child lies
// after its parent, so that no table can make a run endless, and every index is compared
// with the size of its table. Read trees.go first.
package ml
