package nn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// go doc lists a function under its result's type only when that has a name.
func TestOptionsAreListedUnderTheirTypes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	options := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			result := f.Type.Results.List[0].Type
			_, literal := result.(*ast.InterfaceType)
			require.False(t, literal, "the result of %s has no name", f.Name)
			if name, ok := result.(*ast.Ident); ok && strings.HasSuffix(name.Name, "Option") {
				options++
			}
		}
	}
	require.Greater(t, options, 30)
}
