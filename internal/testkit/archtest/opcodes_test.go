package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxOpcodes bounds the cases for scalar operations of a switch outside of package kernel and
// op/expr: a target that writes all of them has a table (expr.Forms), which a test can hold complete.
const maxOpcodes = 3

func TestNoSwitchWritesOpcodes(t *testing.T) {
	var wrong []string
	for _, s := range handWritten(t) {
		room := path.Dir(s.path)
		if strings.HasSuffix(s.path, "_test.go") || isMachinery(room) || room == "op/expr" || room == "kernel" || strings.HasPrefix(room, "kernel/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sw, ok := n.(*ast.SwitchStmt); ok {
				if n := opcodes(sw); n > maxOpcodes {
					wrong = append(wrong, fmt.Sprintf("%s: a switch has cases for %d operations", s.fset.Position(sw.Pos()), n))
				}
			}
			return true
		})
	}
	require.Empty(t, wrong, "make a table of them: expr.Forms")
}

// opcodes counts the cases of a switch that name scalar operations.
func opcodes(sw *ast.SwitchStmt) (n int) {
	for _, c := range sw.Body.List {
		if slices.ContainsFunc(c.(*ast.CaseClause).List, isOpcode) {
			n++
		}
	}
	return n
}

func isOpcode(x ast.Expr) bool {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := sel.X.(*ast.Ident)
	return ok && from.Name == "kernel" && strings.HasPrefix(sel.Sel.Name, "Op")
}
