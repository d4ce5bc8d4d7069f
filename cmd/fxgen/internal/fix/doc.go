// Package fix rewrites Go code that calls package tensor in forms of earlier versions to
// those of this one: fxgen fix. It works by syntax, on one file at a time, so that it runs
// on code that does not compile any more. It rewrites a call only where the file shows
// that it is one of a tensor, and reports the others that look like one.
//
// The forms of calls come from package op/api; table.go has only what op/api no longer
// knows. Read fix.go first, then call.go.
package fix
