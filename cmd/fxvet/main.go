// Command fxvet finds, without running it, what a trace would refuse in model code. It is a
// checker for go vet -vettool, and runs by itself: fxvet ./... prints findings, fxvet -fix
// ./... also mends what it can. docs/fxvet.md describes it.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/rules"
)

func main() { multichecker.Main(rules.All()...) }
