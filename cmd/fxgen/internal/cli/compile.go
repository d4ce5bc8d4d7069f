package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/tables"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/effects"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

const compileHelp = `compile writes constructors of compiled functions: a Go file with a function
CompileF for each function F, and the table of the memory that F reads and writes,
which later calls are compared by. A FUNC is Func, Type.Method, or Type for the method
Forward, of the package that the file is in; IMPORT/PATH#Func is of another package. A
function that returns a function literal, or a variable that is declared with one, stands
for the literal, and CompileF takes a closure of it. In each package of the module whose
code the tables speak of, it writes fx_source.go, which embeds the code: a constructor
panics where the program has other code. fxgen check FILE tells what is stale.

With -explain it writes nothing, and prints what memory a function reads and writes before
and while it computes, and what keeps its calls from being replayed. A SOURCE is then
./pkg#Func or ./pkg#Type.Method. compile looks at the code alone and runs nothing;
for closures it builds the package, since the compiler tells how they lie in memory.`

// compileCommand is about functions whose calls are replayed.
func compileCommand(a *app) *cobra.Command {
	var explain, asJSON, force bool
	var out string
	c := &cobra.Command{Use: "compile -o FILE.go FUNC... | -explain SOURCE", Short: "Write constructors of compiled functions, or tell what a Go function reads and writes", Long: compileHelp}
	c.Flags().StringVar(&out, "o", "", "Go file to write, in the folder of a package")
	c.Flags().BoolVar(&explain, "explain", false, "print reads, writes and breaks with their lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	c.Flags().BoolVar(&force, "force", false, "replace files that fxgen did not write, or that were changed since")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case explain == (out != ""):
			return usagef("compile needs -o FILE.go or -explain, one of them")
		case explain:
			if err := exactly(1, "one SOURCE")(c, args); err != nil {
				return err
			}
			return explainEffects(a, args[0], asJSON)
		case len(args) == 0:
			return usagef("compile -o takes the functions to compile, got none")
		}
		write := func() error {
			g, err := compiled(a, out, force, args)
			if err != nil {
				return err
			}
			return deliver(a, g)
		}
		if asJSON {
			return asDocument(a, write)
		}
		return write()
	}
	return c
}

// explainEffects prints what a function reads and writes.
func explainEffects(a *app, arg string, asJSON bool) error {
	s, err := effectsOf(a, arg)
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	return s.Explain(a.stdout)
}

// effectsOf analyses the function that a SOURCE argument names.
func effectsOf(a *app, arg string) (*effects.Summary, error) {
	pkg, name, ok := strings.Cut(arg, "#")
	if !ok {
		return nil, bad(arg+" names no Go function", "write ./pkg#Func or ./pkg#Type.Method")
	}
	if pkg == "" {
		pkg = "."
	}
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	defer a.busy("reading " + name)()
	p, err := effects.Open(a.ctx, pkg, capture.GoEnv(dir))
	if err != nil {
		return nil, err
	}
	fn, err := p.Root(p.Package.PkgPath, name)
	if err != nil {
		return nil, err
	}
	return p.Summary(fn), nil
}

// compiled analyses functions, and makes the files with their constructors.
func compiled(a *app, out string, force bool, funcs []string) (*generated, error) {
	if filepath.Ext(out) != ".go" || filepath.Base(out) == ".go" {
		return nil, usagef("-o %s: expected the name of a Go file", out)
	}
	if err := userpkg.Folder(filepath.Dir(absolute(out))); err != nil {
		return nil, err
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
