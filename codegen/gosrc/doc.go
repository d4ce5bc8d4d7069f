// Package gosrc holds the common parts of both styles of generated code: files,
// comments, literals of Go values, import paths and the jennifer statements that
// occur everywhere. It owns the promise that no text from a graph breaks out of a
// comment, a string or an import declaration; identifiers come from
// internal/goname. It knows no graph's structure and no plan: module and
// kernelstyle do. Read literal.go first.
package gosrc
