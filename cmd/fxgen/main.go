// Command fxgen captures networks written in Go and writes them as optimised Go
// code; it prints, draws, counts and runs them too. docs/cli.md describes it.
package main

import (
	"os"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
