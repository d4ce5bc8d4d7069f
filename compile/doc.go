// Package compile runs functions by what they have computed before. A compiled function runs once,
// under a session of package lazy, which makes a graph of its tensor calls; what it does to memory is
// noted next to it. Later calls compare the memory that the function reads with what it was, and
// where it is the same, they run the graph and write what the function would have written: no
// code of the function runs.
//
// What a function reads is a state.Table, which `fxgen compile` writes. Where it lacks something that is read, calls may give what
// they gave before; Audit finds that out. A call that looks at data, or makes what cannot be made again, runs the
// function itself, in a session where that can have the tensors, and so does one whose memory the table does not know: Explain tells the
// reason and the line.
//
// A number of which the table says that code does no more than to give it to operators becomes an input, once it
// has differed often enough, and sizes become symbols where no code looks at any. 0 and 1 have records of their own.
//
// A weight of the receiver or of a global, whose memory no Go code was given, is a constant of the graph; all other
// tensors are read at each call. A call that returns or stores new objects is compared with a second one before
// its record counts, since only that tells objects that are new from others that were there.
//
// Calls on several goroutines are right where calls of the function itself are. A call that makes a record
// has the tensors of its arguments to itself: code that is not compiled must not use them meanwhile. Close waits
// for nobody: calls that run a graph end with it.
//
// The room stands above lazy. It does not look at code, and does not know operators by name. Read
// compile.go first, then core.go (which record fits), capture.go (how a record is made), record.go, number.go (numbers that become
// inputs), sizes.go, loops.go, rolled.go, roll.go and roll_graph.go (loops of any number of rounds), and lend.go (calls without a record).
//
// Ref: Ansel et al., PyTorch 2: faster machine learning through dynamic Python bytecode transformation and
// graph compilation (ASPLOS 2024).
package compile
