// Package count says what nodes of a graph cost before anything is planned: the operations of a call, as its
// operator counts them, and the bytes that it reads and writes, both over the symbols of the graph. It goes
// into bodies and sub-graphs.
//
// It stands above graph, which knows nothing of costs. Passes choose by it, drawings show it, lowering/shard
// cuts stages by it; lowering/cost prices the plan that comes out in the end. Read count.go first.
package count
