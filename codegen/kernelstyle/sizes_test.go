package kernelstyle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/shape"
)

func TestDimsPrintAsGo(t *testing.T) {
	for text, want := range map[string]string{
		"3": "3", "N": "N", "2*N+1": "2*N + 1", "-N+M": "-N + M", "(H-1)//2": "kernel.FloorDiv(H-1, 2)", "4*N*(M//3)": "kernel.FloorDiv(M, 3)*4*N", "N//(M+1)-2": "kernel.FloorDiv(N, M+1) - 2",
	} {
		d, err := shape.ParseDim(text)
		require.NoError(t, err)
		got := new(sizes).dim(d).GoString()
		// The order of a size's terms is shape's business: compare values.
		for n := range 6 {
			env := func(s string) (int, bool) { return n + int(s[0])%5, true }
			x, err := d.Eval(env)
			require.NoError(t, err)
			require.Equal(t, x, evalGo(t, got, env), "%s printed as %s", d, got)
			require.Equal(t, x, evalGo(t, want, env), text)
		}
	}
}

// evalGo computes a printed size.
func evalGo(t *testing.T, text string, env func(string) (int, bool)) int {
	e, err := parser.ParseExpr(text)
	require.NoError(t, err, text)
	var eval func(e ast.Expr) int
	eval = func(e ast.Expr) int {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return eval(e.X)
		case *ast.BasicLit:
			n, err := strconv.Atoi(e.Value)
			require.NoError(t, err)
			return n
		case *ast.Ident:
			n, _ := env(e.Name)
			return n
		case *ast.UnaryExpr:
			return -eval(e.X)
		case *ast.CallExpr:
			a, b := eval(e.Args[0]), eval(e.Args[1])
			q := a / b
			if a%b != 0 && (a < 0) != (b < 0) {
				q--
			}
			return q
		case *ast.BinaryExpr:
			a, b := eval(e.X), eval(e.Y)
			switch e.Op {
			case token.ADD:
				return a + b
			case token.SUB:
				return a - b
			case token.MUL:
				return a * b
			}
		}
		t.Fatalf("unexpected %T in %s", e, text)
		return 0
	}
	return eval(e)
}
