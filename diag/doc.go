// Package diag holds positions and coded errors, the only way in which gofx
// tells people what is wrong: what, where, expected, found, cure. Lists of
// errors are reported whole, sorted by position. It owns the table that explains
// every code (codes_*.go), from which docs/errors.md is made.
//
// It is the lowest room and imports no other. It does not print or log. What a public
// boundary returns is a *Error or a List; errors.Is finds a code in both; errors.As
// takes the list or its first error. Read diag.go first.
package diag
