// Package userpkg loads a package of a user's module for static checks, and says in plain
// words what keeps it from being loaded.
//
// Read load.go first.
package userpkg
