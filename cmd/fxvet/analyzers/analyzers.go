// Package analyzers has the checks of fxvet for programs that run analyzers by themselves: a golangci-lint with
// plugins, or a vet tool of your own. docs/fxvet.md describes both.
package analyzers

import (
	"golang.org/x/tools/go/analysis"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/rules"
)

// All are the analyzers of fxvet, in an order that stays. They keep facts about functions, so that a driver has to
// analyse the packages that the judged ones import, too. Each call returns a slice of its own.
func All() []*analysis.Analyzer { return rules.All() }
