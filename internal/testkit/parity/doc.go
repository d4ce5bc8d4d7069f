// Package parity compares torch.fx with gofx: a table of
// behaviours, each with its input, the expected outcome, the test that shows it and
// the functions it rests on, or the reason why Go has no such thing. docs/torchfx.md
// is written from the table, and a test empties each of the functions to see that
// the rows which name it fail.
//
// There is one file for each area (node_test.go, interp_test.go, ...); area enters
// its rows. A new area is a new file and changes no other.
//
//	go test ./internal/testkit/parity -run Page -update
package parity
