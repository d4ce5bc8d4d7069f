package capture

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"sort"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/dump"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
)

// The test binary of the user's package may die before it leaves a result: the
// model's code calls os.Exit, panics in a goroutine of its own, overflows the stack
// or writes a map twice at once. The runtime's dump tells the line; os.Exit leaves
// none, so that the job is done again with calls of it replaced by panics.

// died is the diagnostic of a test binary without a result.
func (l *loaded) died(a answer, again string) *diag.Error {
	hint := "return an error, or panic in the function itself; run it in a test of its own to see more"
	at := diag.Pos{File: l.pos.Filename, Line: l.pos.Line, Col: l.pos.Column}
	if c := dump.Find(a.out, exchange.HarnessFile, exchange.NamesFile); c != nil {
		if c.Pos.File != "" {
			at = c.Pos
		}
		return diag.New(exchange.Died, "the model's code ended the program: "+c.What).At(at).WithHint(hint)
	}
	if c := dump.Find(again, exchange.HarnessFile, exchange.NamesFile); c != nil && c.Pos.File != "" {
		at = c.Pos
	}
	e := diag.New(exchange.Died, "the model's code ended the program: "+a.ended).At(at).WithHint(hint)
	if text := lastWords(a.out); text != "" {
		e.Related = []diag.Related{{Msg: "it printed: " + text}}
	}
	return e
}

// lastWords is the last line that the model printed before package testing did.
func lastWords(out string) (last string) {
	for line := range strings.Lines(out) {
		if line == "FAIL\n" {
			break
		}
		if text := strings.TrimSpace(line); text != "" {
			last = text
		}
	}
	return last
}

// exits are the functions that end a program without a trace, and their types.
var exits = map[string]string{
	"os.Exit": "func(int)", "syscall.Exit": "func(int)",
	"log.Fatal": "func(...any)", "log.Fatalln": "func(...any)", "log.Fatalf": "func(string, ...any)",
	"(*log.Logger).Fatal": "func(...any)", "(*log.Logger).Fatalln": "func(...any)", "(*log.Logger).Fatalf": "func(string, ...any)",
}

// withoutExits returns the package's overlay with all exits replaced; nil when
// there are none.
func (l *loaded) withoutExits() map[string][]byte {
	overlay := maps.Clone(l.overlay)
	if overlay == nil {
		overlay = map[string][]byte{}
	}
	found := false
	for _, f := range l.pkg.Syntax {
		path := l.pkg.Fset.Position(f.Package).Filename
		src, ok := overlay[path]
		if !ok {
			var err error
			if src, err = os.ReadFile(path); err != nil {
				continue
			}
		}
		if edited := l.replaceExits(f, src); edited != nil {
			overlay[path], found = edited, true
		}
	}
	if !found {
		return nil
	}
	return overlay
}

// replaceExits returns a file's source with its exits replaced, on the same lines:
// by functions that die in a goroutine of their own, where nobody recovers.
func (l *loaded) replaceExits(f *ast.File, src []byte) []byte {
	var edits []edit
	offset := func(p token.Pos) int { return l.pkg.Fset.Position(p).Offset }
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		fn, ok := l.pkg.TypesInfo.Uses[sel.Sel].(*types.Func)
		if !ok || exits[fn.FullName()] == "" {
			return true
		}
		e := edit{from: offset(sel.Pos()), to: offset(sel.End())}
		e.text = exits[fn.FullName()] + " { _ = " + string(src[e.from:e.to]) + "; go panic(\"exit\"); select {} }"
		edits = append(edits, e)
		return false
	})
	if len(edits) == 0 {
		return nil
	}
	sort.Slice(edits, func(a, b int) bool { return edits[a].from > edits[b].from })
	for _, e := range edits {
		src = append(src[:e.from:e.from], append([]byte(e.text), src[e.to:]...)...)
	}
	return src
}

// whereItExits does a job again to find the line that ended it; it returns the
// test binary's output.
func (t *Target) whereItExits(ctx context.Context, l *loaded, j *work.Job) string {
	again := *l
	if again.overlay = l.withoutExits(); again.overlay == nil {
		return ""
	}
	a, err := again.run(ctx, t, j)
	if err != nil {
		return ""
	}
	return a.out
}
