package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/report"
	"github.com/gofx-dev/gofx/diag"
)

// diagnostics prints a list to stderr, sorted by position: the message on a line
// of its own in the form that editors understand, then the cure.
func (a *app) diagnostics(l diag.List) {
	r := resolver{files: map[string]*ast.File{}, set: token.NewFileSet()}
	shown := make(diag.List, len(l))
	for i, e := range l {
		c := report.Cured(e)
		c.Pos = r.resolve(c.Pos, c.Op)
		c.Related = append([]diag.Related(nil), e.Related...)
		for k := range c.Related {
			c.Related[k].Pos = r.resolve(c.Related[k].Pos, "")
		}
		shown[i] = &c
	}
	shown.Sort()
	for _, e := range shown {
		a.said = append(a.said, report.Of(e))
		a.found = append(a.found, e)
	}
	for _, e := range shown.OneHint() {
		text := e.Error()
		if e.Pos.String() == "" {
			text = "fxgen: " + text
		}
		fmt.Fprintln(a.stderr, text)
	}
}

// resolver adds columns to positions that come from running code and makes their
// files relative to the working directory.
type resolver struct {
	files map[string]*ast.File
	set   *token.FileSet
}

func (r *resolver) resolve(p diag.Pos, op string) diag.Pos {
	if p.File == "" {
		return p
	}
	if p.Col == 0 && p.Line > 0 && strings.HasSuffix(p.File, ".go") {
		p.Col = r.column(p.File, p.Line, op)
	}
	p.File = relative(p.File)
	return p
}

// relative returns a path relative to the working directory when it lies in it.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && (rel == ".." || !strings.HasPrefix(rel, ".."+string(filepath.Separator))) {
		return rel
	}
	return path
}

// column finds the call on a line whose name is the operator's, else the first
// call, else the first node that starts there.
func (r *resolver) column(file string, line int, op string) int {
	f := r.parse(file)
	if f == nil {
		return 0
	}
	want := fold(op)
	named, call, first := 0, 0, 0
	better := func(have *int, p token.Position) {
		if p.Line == line && (*have == 0 || p.Column < *have) {
			*have = p.Column
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if r.set.Position(n.Pos()).Line > line || r.set.Position(n.End()).Line < line {
			return false
		}
		better(&first, r.set.Position(n.Pos()))
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, pos := calledName(c)
		better(&call, r.set.Position(pos))
		if want != "" && fold(name) == want {
			better(&named, r.set.Position(pos))
		}
		return true
	})
	if named > 0 {
		return named
	}
	if call > 0 {
		return call
	}
	return first
}

// calledName returns the last name of a called expression and where it stands.
func calledName(c *ast.CallExpr) (string, token.Pos) {
	fun := c.Fun
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name, x.Sel.Pos()
	case *ast.Ident:
		return x.Name, x.Pos()
	}
	return "", c.Pos()
}

func (r *resolver) parse(file string) *ast.File {
	if f, ok := r.files[file]; ok {
		return f
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > 16<<20 {
		return nil
	}
	f, _ := parser.ParseFile(r.set, file, nil, parser.SkipObjectResolution)
	r.files[file] = f
	return f
}

// fold makes max_pool2d and MaxPool2d the same.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
