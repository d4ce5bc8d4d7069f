// Package source tells whether the code of a program is that of which `fxgen compile` has made a table.
//
// A package whose code a table speaks of has a generated file that embeds the package's Go files and hands
// them to Register. The constructors of compiled functions compare them, and the versions of
// modules and of Go, with those that the table was made of: Code.Check panics where one differs, since a
// stale table gives wrong results. With the build tag fxnosource nothing is embedded, and `fxgen check` is left to
// find what is stale.
//
// The room stands above compile/state, whose code its errors have. It does not know tables. Read source.go first, then
// hash.go.
package source
