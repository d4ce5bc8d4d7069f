// Package flow finds out what becomes of the inputs of a captured function: which values come
// from them, which are their memory, what is read, written and kept of them. It works on the
// single static assignment form of one package and has summaries of functions of the packages
// below it, as facts.
//
// The rules of package rules ask it; it reports nothing itself. A function that package flow
// cannot see into is taken to hand traced values on and to do nothing else, so that a
// finding is never a guess. Read flow.go first, then tree.go.
package flow
