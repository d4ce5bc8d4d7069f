// Package mutants holds deliberate mistakes: a pipeline of twelve passes with
// one wrong rewrite, an engine with one wrong kernel, and the programs that they
// run on. Tests of package passes/debug require that the mistake is found.
package mutants
