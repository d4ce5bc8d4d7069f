// Package mutants holds what is wrong on purpose: a pipeline of twelve passes in which
// one rewrite goes wrong, an engine in which one kernel does, and the programs that they
// are tried on. Tests of package passes/debug demand that the mistake is found.
package mutants
