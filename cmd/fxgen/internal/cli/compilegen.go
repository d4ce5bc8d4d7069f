package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/tables"
	"github.com/gofx-dev/gofx/diag"
)

// compiled analyses functions, and makes the files with their constructors.
func (a *app) compiled(out string, force bool, funcs []string) (*generated, error) {
	if filepath.Ext(out) != ".go" || filepath.Base(out) == ".go" {
		return nil, usagef("-o %s: expected the name of a Go file", out)
	}
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	defer a.busy("reading " + strings.Join(funcs, ", "))()
	r := &tables.Request{File: absolute(out), Funcs: funcs, Env: capture.GoEnv(dir)}
	if r.Go, err = goVersion(a, filepath.Dir(r.File), r.Env); err != nil {
		return nil, err
	}
	files, err := tables.Make(a.ctx, r)
	if err != nil {
		return nil, err
	}
	g := &generated{writer: &writer{ctx: a.ctx, force: force}}
	a.writers = append(a.writers, g.writer)
	for _, f := range files {
		t, err := stamped(f.Path, f.Data)
		if err != nil {
			return nil, err
		}
		if rel, err := filepath.Rel(absolute("."), t.path); err == nil {
			t.path = rel
		}
		g.files = append(g.files, t)
	}
	return g, nil
}

// goVersion is the version of the go command, which builds the program.
func goVersion(a *app, dir string, env []string) (string, error) {
	cmd := proc.Command(a.ctx, "go", "env", "GOVERSION")
	cmd.Dir, cmd.Env = dir, env
	text, err := proc.Output(a.ctx, cmd)
	if _, failed := err.(*exec.ExitError); failed || os.IsNotExist(err) {
		return "", diag.New(codeNoWrite, "the go command does not tell its version in "+dir).WithHint("name a file in a folder of your module")
	}
	return strings.TrimSpace(string(text)), err
}

// madeBy returns the functions of which compile made a file, nil for another file.
func madeBy(path string) []string {
	if filepath.Ext(path) != ".go" {
		return nil
	}
	text, _ := contents(path)
	return tables.Funcs(text)
}
