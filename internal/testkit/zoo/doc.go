// Package zoo has the networks of package models as a table: their sizes, and which engines compute
// the reference's outputs, how often that is tried, and why not. docs/zoo.md is written from it.
//
// Read zoo.go first.
package zoo
