package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/diag"
)

// diagnosticJSON is a diagnostic in a document of -json.
type diagnosticJSON struct {
	Code    diag.Code     `json:"code,omitempty"` // none of wrong usage, and of some notes
	Pos     string        `json:"pos,omitempty"`  // file:line:col
	Node    string        `json:"node,omitempty"`
	Op      string        `json:"op,omitempty"`
	Phase   string        `json:"phase,omitempty"`
	Msg     string        `json:"msg"`
	Hint    string        `json:"hint,omitempty"`
	Note    bool          `json:"note,omitempty"` // no mistake
	Related []relatedJSON `json:"related,omitempty"`
}

// relatedJSON is a second place of a diagnostic.
type relatedJSON struct {
	Pos string `json:"pos,omitempty"`
	Msg string `json:"msg"`
}

func asJSON(e *diag.Error) diagnosticJSON {
	d := diagnosticJSON{Code: e.Code, Pos: e.Pos.String(), Node: e.Node, Op: e.Op, Phase: e.Phase, Msg: e.Msg, Hint: e.Hint, Note: e.Note}
	if e.Err != nil {
		if d.Msg != "" {
			d.Msg += ": "
		}
		d.Msg += e.Err.Error()
	}
	for _, r := range e.Related {
		d.Related = append(d.Related, relatedJSON{r.Pos.String(), r.Msg})
	}
	return d
}

// resultJSON is the document of commands that have none of their own.
type resultJSON struct {
	Files       []string         `json:"files"`            // of files that gen and others write
	Output      string           `json:"output,omitempty"` // the output without -json
	Diagnostics []diagnosticJSON `json:"diagnostics"`
}

// documents gives -json to the commands that take a source and have no document of their
// own. When a command fails, its document has the diagnostics alone; see fail.
func (a *app) documents(list []*cobra.Command) {
	for _, c := range list {
		if c.Flags().Lookup("input") == nil || c.Flags().Lookup("json") != nil {
			continue
		}
		asked := c.Flags().Bool("json", false, "print one JSON document")
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if !*asked {
				return run(c, args)
			}
			out, printed := a.stdout, &bytes.Buffer{}
			a.stdout = printed
			err := run(c, args)
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
	}
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
