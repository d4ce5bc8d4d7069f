// Package ints has programs that compare sizes and numbers, and give sizes to operators as ints, for the tests of compiled functions: one record
// serves all sizes on one side of each comparison.
//
// The room is for tests only. Read programs.go, then ints_test.go.
package ints
