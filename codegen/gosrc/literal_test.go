package gosrc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/kernel"
)

func TestOpcodesAreNamed(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "kernel", "opcode_gen.go"), nil, 0)
	require.NoError(t, err)
	known := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, id := range v.Names {
				known[id.Name] = true
			}
		}
		return true
	})
	for _, c := range kernel.Codes() {
		require.True(t, known[gosrc.OpcodeName(c)], "%s", c)
	}
}
