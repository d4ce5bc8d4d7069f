// Package harness is the part of fxgen that runs inside a test binary of the
// user's package, where its types and unexported functions exist. fxgen writes
// the test that calls Run and shows it to the go command through an overlay; it
// is of no use elsewhere.
package harness

import (
	"os"
	"testing"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

// Run does the job in the folder that the environment names, and leaves the result
// there. captured has the functions of the package, and constructors of its modules,
// by name; own and other have the passes of this package and of others, by import
// path, dot and name. The choice in the folder says which of them are meant: a test
// binary serves all jobs of its package.
func Run(t *testing.T, captured, own, other map[string]any) {
	folder := os.Getenv(work.FolderVariable)
	if err := os.Unsetenv(work.FolderVariable); err != nil {
		t.Fatal(err)
	}
	c, err := work.Chosen(folder)
	if err != nil {
		t.Fatal(err)
	}
	src := work.Source{Name: c.Name, Method: c.Method, Params: c.Params, Outputs: c.Outputs}
	if m := models.Lookup(c.Model); m != nil {
		src = *work.Model(m)
	}
	src.File, src.Passes, src.Places = c.File, map[string]passes.Pass{}, c.Passes
	if c.Captured != "" {
		what := captured[c.Captured]
		if what == nil {
			t.Fatal("there is no ", c.Captured)
		}
		make, made := what.(func() (any, error))
		switch {
		case !made:
			src.Func = what
		case c.Gives:
			src.Gives = make
		default:
			src.New, src.Maker = make, c.Captured
		}
	}
	for entry, place := range c.Passes {
		p, ok := own[place]
		if !ok {
			p = other[place]
		}
		if src.Passes[entry], ok = p.(passes.Pass); !ok {
			t.Fatal("there is no ", place)
		}
	}
	if err := work.Serve(&src, folder); err != nil {
		t.Fatal(err)
	}
}
