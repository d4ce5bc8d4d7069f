// Package graphviz turns DOT text, as package draw writes it, into SVG and PNG.
// It runs Graphviz itself, compiled to WebAssembly: there is no cgo and no
// program to install. Importing it costs start-up time (the WebAssembly is
// compiled, or found in a cache), so commands that draw nothing do not import it.
//
// It stands above draw and knows text only, not graphs. Read graphviz.go first.
package graphviz
