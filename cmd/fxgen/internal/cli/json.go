package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/gomod"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/report"
	"github.com/gofx-dev/gofx/diag"
)

// diagnosticJSON is a diagnostic in a document of -json.
type diagnosticJSON = report.Diagnostic

// resultJSON is the document of commands that have none of their own.
type resultJSON struct {
	Files       []string         `json:"files"`            // of files that gen and others write
	Output      string           `json:"output,omitempty"` // the output without -json
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

// documents gives -json to the commands that take a source, or Go files, and have no document of
// their own. When a command fails, its document has the diagnostics alone; see fail.
func (a *app) documents(list []*cobra.Command) {
	for _, c := range list {
		if c.Flags().Lookup("input") == nil && c.Name() != "fix" || c.Flags().Lookup("json") != nil {
			continue
		}
		asked := c.Flags().Bool("json", false, "print one JSON document")
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if !*asked {
				return run(c, args)
			}
			return asDocument(a, func() error { return run(c, args) })
		}
	}
}

// asDocument runs a command, and prints as a document what it prints, writes and reports.
func asDocument(a *app, run func() error) error {
	out, printed := a.stdout, &bytes.Buffer{}
	a.stdout = printed
	err := run()
	if a.stdout = out; err != nil && !errors.Is(err, errDiffers) {
		return err
	}
	doc := resultJSON{Files: []string{}, Output: printed.String(), Diagnostics: a.reported()}
	for _, w := range a.writers {
		for _, path := range w.wrote {
			doc.Files = append(doc.Files, filepath.ToSlash(path))
		}
	}
	return errors.Join(a.document(doc), err)
}

// reported are the diagnostics so far.
func (a *app) reported() []diagnosticJSON { return append([]diagnosticJSON{}, a.said...) }

// document prints a JSON document.
func (a *app) document(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// failed prints, of a command that fails with -json before it has printed its document, one
// that has the diagnostics.
func (a *app) failed(c *cobra.Command) {
	f := c.Flags().Lookup("json")
	if f == nil || f.Value.String() != "true" || a.out.n > 0 && !a.lines || len(a.said) == 0 {
		return
	}
	if a.lines {
		_ = json.NewEncoder(a.stdout).Encode(map[string]any{"diagnostics": a.reported()})
		return
	}
	_ = a.document(map[string]any{"diagnostics": a.reported()}) // where that is not possible, stderr has said all
}

// reports are the files that other tools read the diagnostics from.
type reports struct{ sarif, vet string }

func (r *reports) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&r.sarif, "sarif", "", "also write the diagnostics to this file, as SARIF 2.1.0")
	c.PersistentFlags().StringVar(&r.vet, "vet-json", "", "also write the diagnostics to this file, in the form of go vet -json")
}

// writeReports writes the files that the command line asks for, after everything else. It returns the exit code: another one
// where they could not be written.
func writeReports(a *app, args []string, code int) int {
	if a.ctx.Err() != nil || a.reports == (reports{}) {
		return code
	}
	dir, err := os.Getwd()
	if err != nil {
		return a.fail(unwritable("the diagnostics", err))
	}
	run := &report.Run{Version: gomod.Version(), Dir: dir, Args: args, ExitCode: code, Found: a.found}
	for _, r := range []struct {
		path string
		form func() ([]byte, error)
		own  func([]byte) bool
	}{{a.reports.sarif, run.SARIF, report.OwnSARIF}, {a.reports.vet, run.Vet, report.OwnVet}} {
		if r.path == "" {
			continue
		}
		data, err := r.form()
		if old, ok := contents(r.path); err == nil && ok && !r.own(old) {
			err = diag.New(codeKept, r.path+" exists and is no report of fxgen: somebody else wrote it").WithHint("choose another place, or move the file away")
		}
		if err == nil {
			err = (&writer{ctx: a.ctx, force: true}).write([]target{{r.path, data}})
		}
		if err != nil {
			code = max(code, a.fail(err))
		}
	}
	return code
}

// outdated tells reports of the files that check and diff have found.
func outdated(a *app, list []difference) {
	for _, d := range list {
		a.found = append(a.found, &diag.Error{Code: codeStale, Pos: diag.Pos{File: d.Path}, Msg: fmt.Sprintf("%s %s", d.Path, d.State), Hint: "run fxgen gen with the same flags"})
	}
}
