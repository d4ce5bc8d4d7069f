package flow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestObserversAreThoseThatPackageTensorMarks holds the table of Observers to the marks in
// package tensor, and the marks to its functions: each exported one that takes a tensor or a size
// and returns, or prints, something else says what it observes.
func TestObserversAreThoseThatPackageTensorMarks(t *testing.T) {
	files, err := filepath.Glob("../../../../tensor/*.go")
	require.NoError(t, err)
	marked, seen := map[string]string{}, 0
	var missing []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name, mark := nameOf(fn), markOf(fn)
			if mark != "" {
				require.True(t, answers(fn), "%s is marked and answers nothing", name)
				seen++
			}
			if answers(fn) && mark == "" {
				missing = append(missing, name)
			}
			if mark != "" && mark != "nothing" {
				marked[name] = mark
			}
		}
	}
	require.Empty(t, missing, "each needs a comment //gofx:observes CODE, or //gofx:observes nothing")
	require.Equal(t, Observers, marked)
	require.Greater(t, seen, len(marked), "some functions observe nothing")
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	return t.(*ast.Ident).Name + "." + fn.Name.Name
}

func markOf(fn *ast.FuncDecl) string {
	if fn.Doc == nil {
		return ""
	}
	for _, c := range fn.Doc.List {
		if m, ok := strings.CutPrefix(c.Text, "//gofx:observes "); ok {
			return m
		}
	}
	return ""
}

// answers reports whether a function is given a tensor or a size and tells something about it in
// Go values.
func answers(fn *ast.FuncDecl) bool {
	given := fn.Recv != nil && about(fn.Recv.List[0].Type)
	for _, p := range fn.Type.Params.List {
		given = given || fn.Recv == nil && about(p.Type)
	}
	if !given {
		return false
	}
	if fn.Name.Name == "Format" {
		return true
	}
	if fn.Type.Results == nil {
		return false
	}
	for _, r := range fn.Type.Results.List {
		if !about(r.Type) && !about(elem(r.Type)) {
			return true
		}
	}
	return false
}

func elem(e ast.Expr) ast.Expr {
	if a, ok := e.(*ast.ArrayType); ok {
		return a.Elt
	}
	return e
}

// about reports whether a type is Tensor or Size.
func about(e ast.Expr) bool {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "Tensor" || id.Name == "Size")
}
