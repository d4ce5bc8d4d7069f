// Package guard says what a program relies on, and checks it. A Guard is one claim:
// Size relates sizes (N % 4 == 0), Type gives an input its type (x: f32[N,4]). The sum
// is closed: every kind checks itself against what a run is given, prints the text form
// that Parse reads, and has a Key by which guards compare and hash. An Entry is all that
// a program takes and relies on; every engine checks its inputs with one.
//
// It stands below graph and tensor, so that traces, passes, plans, generated code and what
// keeps captured programs ask the same claims. It knows no graph: where a claim comes
// from is given to it as words and a position. To add a kind, implement Guard here, let
// Parse read it and give Inputs what it must look at; only kinds that something makes
// belong here. Read guard.go first.
package guard
