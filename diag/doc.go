// Package diag holds positions and coded errors, the only way in which gofx
// tells people what is wrong: what, where, expected, found, cure. Lists of
// errors are reported whole, sorted by position. It owns the table that explains
// every code (codes_*.go), from which docs/errors.md and, by go generate ./diag, the
// constants of the rooms are made: a new code is a row, the code that reports it,
// and the example of the row in that room's test.
//
// It is the lowest room and imports no other. It does not print or log. A public
// boundary returns a *Error or a List; errors.Is finds a code in both; errors.As
// takes the list or its first error. Read diag.go first.
package diag

//go:generate go run ../internal/generators/diagcodes
