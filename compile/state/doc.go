// Package state reads the memory that a compiled function depends on, and writes to it what the
// function would write. A Table says which memory that is.
//
// A walk (Schema.Walk) reads all of it, from the receiver, the arguments and the listed globals. It gives a Guard,
// which tells later whether the memory is the same, in the sense of what the function can see:
// objects of the receiver and of globals are identified by address, those of arguments by how they lie to
// each other. Image.Diff compares the memory before and after a call, and makes a Replay of the
// difference, which writes it again.
//
// The room stands above tensor. It does not know graphs, and does not run anything. Read table.go
// first, then layout.go (words of types), walk.go and follow.go, guard.go, diff.go and replay.go.
package state
