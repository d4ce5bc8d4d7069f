//go:build fxdraw

package main

// fxgen builds fxdraw, tests with the package harness and programs with the package
// drive by the go command in the user's module. This file is never built; because of it
// `go mod tidy` and `go mod vendor` in a module with the line `tool
// github.com/gofx-dev/gofx/cmd/fxgen` provide the packages that those need.
import (
	_ "github.com/gofx-dev/gofx/cmd/fxgen/drive"
	_ "github.com/gofx-dev/gofx/cmd/fxgen/harness"
	_ "github.com/gofx-dev/gofx/draw/graphviz"
)
