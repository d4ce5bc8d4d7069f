package report

import "github.com/gofx-dev/gofx/diag"

// Diagnostic is a diagnostic in a document of -json.
type Diagnostic struct {
	Code    diag.Code `json:"code,omitempty"` // none of wrong usage, and of some notes
	Pos     string    `json:"pos,omitempty"`  // file:line:col
	Node    string    `json:"node,omitempty"`
	Op      string    `json:"op,omitempty"`
	Phase   string    `json:"phase,omitempty"`
	Msg     string    `json:"msg"`
	Hint    string    `json:"hint,omitempty"`
	Note    bool      `json:"note,omitempty"` // no mistake
	Related []Related `json:"related,omitempty"`
}

// Related is a second place of a diagnostic.
type Related struct {
	Pos string `json:"pos,omitempty"`
	Msg string `json:"msg"`
}

// Of returns a diagnostic as documents have it.
func Of(e *diag.Error) Diagnostic {
	d := Diagnostic{Code: e.Code, Pos: e.Pos.String(), Node: e.Node, Op: e.Op, Phase: e.Phase, Msg: e.Msg, Hint: e.Hint, Note: e.Note}
	if e.Err != nil {
		if d.Msg != "" {
			d.Msg += ": "
		}
		d.Msg += e.Err.Error()
	}
	for _, r := range e.Related {
		d.Related = append(d.Related, Related{r.Pos.String(), r.Msg})
	}
	return d
}

// Cured is a copy of a diagnostic with a hint: every mistake has a cure, if only that of its kind.
func Cured(e *diag.Error) diag.Error {
	c := *e
	if info, ok := diag.Lookup(e.Code); ok && c.Hint == "" && !c.Note && e.Code != diag.Internal {
		c.Hint = info.Cure
	}
	return c
}
