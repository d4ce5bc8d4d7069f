// Package recipes has six passes of different kinds, each in a file of less than
// 60 lines. Read them, or copy one to start your own. Their tests show the effect of
// each pass on a network, and that the network still computes the same.
//
// Read activation.go first; docs/add-a-pass.md is the guide, which quotes them.
package recipes
