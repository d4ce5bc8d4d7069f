package effects

import (
	"context"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/userpkg"
)

// What package tensor exports in files that are not generated from the table of operators is in
// byHand, once, and byHand has nothing else. A new function that reads data would else count as
// an operator.
func TestFunctionsOfTensorByHandAreListed(t *testing.T) {
	p, err := userpkg.Load(context.Background(), "../../tensor", os.Environ(), nil)
	require.NoError(t, err)
	var want []string
	for i, file := range p.Syntax {
		if strings.HasSuffix(p.CompiledGoFiles[i], "_gen.go") {
			continue
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() {
				if name := qualified(fn); name != "" {
					want = append(want, name)
				}
			}
		}
	}
	var got []string
	for _, list := range byHand {
		got = append(got, strings.Fields(list)...)
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
}

// qualified is a function's name, for a method with its type's; "" for one of a type that is
// not exported, which only a value of an exported interface leads to.
func qualified(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if id := t.(*ast.Ident); id.IsExported() {
		return id.Name + "." + fn.Name.Name
	}
	return ""
}
