// Package rolls has programs with loops of Go, for the tests of compiled functions: those whose rounds do the same roll, so
// that one record serves all numbers of rounds.
//
// The room is for tests only. Read programs.go, then rolls_test.go.
package rolls
