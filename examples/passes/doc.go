// Package recipes has six passes, each of another kind, one in a file of less than 60
// lines: to be read, and to begin one's own with. The tests beside them show what each
// does to a network, and that the network still computes what it should.
//
// Read activation.go first; docs/add-a-pass.md is the guide, which quotes them.
package recipes
