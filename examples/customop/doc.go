// Package customop has three operators of a user's own, one for each way to say what
// an operator means, and a network that calls them. Each is one entry in one file:
// its samples and faulty calls stand beside its meaning, and conform_test.go runs them
// in every engine.
//
// What a record leaves empty is derived from class, types and meaning: here the cost of
// a call and its tolerance. Nothing is said of gradients either, which a network that
// is run has no use for.
//
// Read snake.go first, then gated.go, median.go and net.go; docs/add-an-op.md is the
// guide.
package customop
