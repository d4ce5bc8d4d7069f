package rules

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
)

// together is all rules as one analyzer, so that the packages of a test are loaded once.
func together() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "fxvet", Doc: "fxvet runs all rules", Requires: []*analysis.Analyzer{flow.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			for _, a := range All() {
				if _, err := a.Run(pass); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
}

// The packages in testdata say at each line what is found there; files with the ending
// .golden are what the fixes make of them.
func TestRules(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), together(), "./...")
}
