package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// again are the places that make a call like one that is there, on operands of other types: a cursor infers its
// type and gives it the position of what it stands for. Whatever is to stay as it is, graph.Copier copies.
var again = []string{
	"lowering/legalize.go",          // a call with its operands in a type that the target computes in
	"passes/arrange/across.go",      // a call on the other side of a movement
	"passes/arrange/halve.go",       // half of a call
	"passes/fusion/merge.go",        // one product for several
	"passes/quant/integer/value.go", // a call of bytes where one of floats was
	"passes/quant/trainnorm.go",     // a layer with its own weight next to that with the folded one
	"passes/recompute/rewrite.go",   // a call at a later place, on repeated operands
}

// TestOneCopier holds that nodes are made by a Cursor, or by the Copier that copies them.
func TestOneCopier(t *testing.T) {
	var made, like []string
	for _, s := range handWritten(t) {
		if strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "internal/testkit") {
			continue
		}
		for name, fn := range s.functions {
			if path.Dir(s.path) == "graph" && makes(fn) {
				made = append(made, name)
			}
		}
		if copies(s.file) {
			like = append(like, s.path)
		}
	}
	slices.Sort(made)
	require.Equal(t, []string{"graph/copy.go node", "graph/cursor.go add"}, made)
	slices.Sort(like)
	require.Equal(t, again, like, "copy nodes with graph.Copier, or say why the call is another one")
}

// makes reports whether a function of package graph takes a new node.
func makes(fn ast.Node) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			f, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && f.Sel.Name == "alloc"
		}
		return true
	})
	return found
}

// copies reports whether a file makes a call of an operator and attributes that both are asked of a node.
func copies(file *ast.File) (found bool) {
	asks := func(e ast.Expr, method string) bool {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == method && len(call.Args) == 0
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) >= 2 {
			f, ok := call.Fun.(*ast.SelectorExpr)
			makes := ok && slices.Contains([]string{"Function", "Method", "Region", "Call"}, f.Sel.Name)
			found = found || makes && asks(call.Args[0], "Op") && asks(call.Args[1], "Attrs")
		}
		return true
	})
	return found
}

func TestOneCopierSeesCopies(t *testing.T) {
	const head = "package p\nfunc f() { "
	for text, want := range map[string]bool{
		"c.Function(n.Op(), n.Attrs(), a...)":     true,
		"c.Method(a.b.Op(), a.b.Attrs())":         true,
		"p.expr(n.Op(), n.Attrs())":               false,
		"c.Function(std.Neg, nil, n)":             false,
		"c.Function(n.Op(), op.None{}, n.Arg(0))": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", head+text+" }", 0)
		require.NoError(t, err)
		require.Equal(t, want, copies(f), text)
	}
	for text, want := range map[string]bool{"m := g.alloc(1)": true, "c.add(o, name, args)": false} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", head+text+" }", 0)
		require.NoError(t, err)
		require.Equal(t, want, makes(f), text)
	}
}
