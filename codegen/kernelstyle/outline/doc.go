// Package outline cuts a plan into functions: from a plan's list of steps it makes
// an Outline, which is data. A run of steps that occurs several times with other
// weights becomes a Block, a function with parameters, and everything else Parts
// of bounded length, cut where the scopes of the model end. It prints nothing and
// chooses no identifier: kernelstyle does. Read outline.go first, then blocks.go
// (what is repeated) and parts.go (where a long plan is cut).
package outline
