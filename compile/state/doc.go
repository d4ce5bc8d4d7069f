// Package state reads the memory that a compiled function depends on.
package state
