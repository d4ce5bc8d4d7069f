// Package harness is the part of fxgen that runs inside a test binary of the
// user's package, where its types and unexported functions exist. fxgen writes
// the test that calls Run and shows it to the go command through an overlay; it
// is of no use elsewhere.
package harness

import (
	"testing"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
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

	// File is a graph's file or folder, Model the name of a built-in network: sources
	// that need what the test links.
	File, Model string
	// Passes are those of the user, by the names that -passes gave them.
	Passes Passes
	// Places says where Passes are declared: import path, dot, name of the variable.
	Places map[string]string
}

// Passes are passes by name.
type Passes map[string]passes.Pass

// Run does the job described in the folder and leaves the result there.
func Run(t *testing.T, s Source, folder string) {
	if err := work.OwnTemporary(); err != nil {
		t.Fatal(err)
	}
	src := work.Source{Name: s.Name, Func: s.Func, New: s.New, Method: s.Method, Params: s.Params, Outputs: s.Results}
	if m := models.Lookup(s.Model); m != nil {
		src = *work.Model(m)
	}
	src.File, src.Passes, src.Places = s.File, s.Passes, s.Places
	if err := work.Serve(&src, folder); err != nil {
		t.Fatal(err)
	}
}
