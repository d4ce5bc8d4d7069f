// Package harness is the part of fxgen that runs inside a test binary of the
// user's package, where its types and unexported functions exist. fxgen writes
// the test that calls Run and shows it to the go command through an overlay; it
// is of no use elsewhere.
package harness

import (
	"testing"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

// Source says what to capture: a function, or a module made by New.
type Source struct {
	Name string
	// Func is a function of tensors.
	Func any
	// New makes a module; Method is the method to capture, Forward when empty.
	New    func() (any, error)
	Method string
	// Params and Results are the names in the signature.
	Params, Results []string
}

// Run does the job described in the folder and leaves the result there.
func Run(t *testing.T, s Source, folder string) {
	src := work.Source{Name: s.Name, Func: s.Func, New: s.New, Method: s.Method, Params: s.Params, Outputs: s.Results}
	if err := work.Serve(&src, folder); err != nil {
		t.Fatal(err)
	}
}
