// Package lazytest has checks of sessions for tests: how often a step computes and why,
// how many graphs it makes, and which. A test that holds them fails on the day on which
// someone prints a number in the loop, not on the day on which someone measures.
//
// The room stands above lazy and reads what Session.Explain tells; it runs nothing.
// Read lazytest.go first.
package lazytest
