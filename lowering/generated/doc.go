// Package generated is the table that a package of generated code has of the graphs of a lazy
// session (fxgen lazy -gen), and the way to run one of them. A graph is kernel-style Go; the
// table says which graph it is, so that a session finds it, and which of its operands are weights.
//
// It stands above lowering, of whose Executable a Bound is one, and below lazy, which looks
// graphs up. It neither compiles nor reads graphs. Read generated.go first.
package generated
