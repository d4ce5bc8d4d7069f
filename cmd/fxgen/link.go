//go:build fxdraw

package main

// fxgen draw runs fxdraw by the go command in the user's module. This file is
// never built; because of it `go mod tidy` in a module with the line
// `tool github.com/gofx-dev/gofx/cmd/fxgen` records what fxdraw needs.
import _ "github.com/gofx-dev/gofx/draw/graphviz"
