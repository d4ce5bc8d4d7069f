package faults

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

var ctx = context.Background()

// first returns the first diagnostic of an error.
func first(err error) error {
	var l diag.List
	if errors.As(err, &l) {
		return l[0]
	}
	return err
}

// Wants reads the "want" comments of faults.go, which lies in dir: for each model
// its diagnostics as "line code", sorted.
func Wants(dir string) (map[string][]string, error) {
	src, err := os.ReadFile(filepath.Join(dir, "faults.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "faults.go", src, 0)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(src), "\n")
	out := map[string][]string{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
				name = star.X.(*ast.Ident).Name
			}
		}
		if name == "overlapping" { // called by concurrent
			name = "concurrent"
		}
		for l := fset.Position(fn.Pos()).Line; l <= fset.Position(fn.End()).Line; l++ {
			if _, want, ok := strings.Cut(lines[l-1], "// want "); ok {
				for _, code := range strings.Fields(want) {
					out[name] = append(out[name], fmt.Sprintf("%d %s", l, code))
				}
			}
		}
		slices.Sort(out[name])
	}
	return out, nil
}
