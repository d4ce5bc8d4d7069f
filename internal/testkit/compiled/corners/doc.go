// Package corners has programs in which a compiled function could go wrong without a word, for the tests of compiled functions.
//
// The room is for tests only. Read programs.go, then corners_test.go.
package corners
