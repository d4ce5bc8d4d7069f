package passes

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// watch lints the graphs of a module after each rewrite, each time what has changed.
type watch struct {
	mod     *graph.Module
	linters map[*graph.Graph]*graph.Linter
}

// check finds what the rewrite that e reports has broken. A pass may put another graph
// in the place of the module's.
func (w *watch) check(c *Ctx, e Event) error {
	if w == nil {
		return nil
	}
	for _, g := range append([]*graph.Graph{w.mod.Graph}, w.mod.Subs()...) {
		l := w.linters[g]
		if l == nil {
			l = graph.NewLinter(g)
			w.linters[g] = l
		}
		if err := l.Check().Err(); err != nil {
			return &diag.Error{Code: LintFailed, Msg: "invalid graph after rewrite " + strconv.Itoa(c.matches) + ", " + e.String(), Err: err}
		}
	}
	return nil
}

// close ends the linters.
func (w *watch) close() {
	if w == nil {
		return
	}
	for _, l := range w.linters {
		l.Close()
	}
}
