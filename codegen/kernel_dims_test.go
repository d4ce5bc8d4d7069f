package codegen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

func TestSizesPrintAsGo(t *testing.T) {
	for _, c := range [][3]string{
		{"3", "3", "3"},
		{"N", "N", "N"},
		{"2*N+1", "2*N + 1", "N.Mul(2).Add(1)"},
		{"-3*N+M", "M - 3*N", "M.Sub(N.Mul(3))"},
		{"1-N", "-N + 1", "N.Mul(-1).Add(1)"},
		{"(H-1)//2", "kernel.FloorDiv(H-1, 2)", "H.Sub(1).Div(2)"},
		{"7//N", "kernel.FloorDiv(7, N)", "N.Mul(0).Add(7).Div(N)"},
		{"4*N*(M//3)", "4 * kernel.FloorDiv(M, 3) * N", "M.Div(3).Mul(4).Mul(N)"},
		{"N//(M+1)-2", "kernel.FloorDiv(N, M+1) - 2", "N.Div(M.Add(1)).Sub(2)"},
		// A quotient that is not exact must not be taken apart by a factor around it.
		{"2*(N//2)", "2 * kernel.FloorDiv(N, 2)", "N.Div(2).Mul(2)"},
		// Go's own division would give 0 for N=0, where the size is -1.
		{"(N-1)//2", "kernel.FloorDiv(N-1, 2)", "N.Sub(1).Div(2)"},
	} {
		d, err := shape.ParseDim(c[0])
		require.NoError(t, err)
		require.Equal(t, c[1], codegen.DimText(d), c[0])
		require.Equal(t, c[2], codegen.SizeText(d), c[0])
	}
}

// TestPrintedSizesKeepTheirValue compares what Go makes of printed sizes, parts
// below zero among them, with their value.
func TestPrintedSizesKeepTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawSize(t, 4)
		if d.IsUnknown() {
			return
		}
		ints, sizes := codegen.DimText(d), codegen.SizeText(d)
		for range 4 {
			env := map[string]int{}
			for _, s := range d.Symbols() {
				env[s] = rapid.IntRange(0, 9).Draw(t, s)
			}
			want, err := d.Eval(func(s string) (int, bool) { return env[s], true })
			if err != nil {
				continue // a divisor is zero
			}
			require.Equal(t, want, evalGo(t, ints, env), "%s as %s", d, ints)
			require.Equal(t, want, evalGo(t, sizes, env), "%s as %s", d, sizes)
		}
	})
}

func drawSize(t *rapid.T, depth int) shape.Dim {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		if s := rapid.SampledFrom([]string{"A", "B", "C", ""}).Draw(t, "symbol"); s != "" {
			return shape.Sym(s)
		}
		return shape.Const(rapid.IntRange(-9, 9).Draw(t, "number"))
	}
	a, b := drawSize(t, depth-1), drawSize(t, depth-1)
	join := rapid.SampledFrom([]func(a, b shape.Dim) shape.Dim{shape.Dim.Add, shape.Dim.Sub, shape.Dim.Mul, shape.Dim.FloorDiv}).Draw(t, "join")
	return join(a, b)
}

// evalGo computes a printed size: operators of ints, kernel.FloorDiv, and the
// methods of tensor.Size.
func evalGo(t require.TestingT, text string, env map[string]int) int {
	e, err := parser.ParseExpr(text)
	require.NoError(t, err, text)
	return (&goEval{t, text, env}).value(e)
}

type goEval struct {
	t    require.TestingT
	text string
	env  map[string]int
}

func (g *goEval) value(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return g.value(e.X)
	case *ast.BasicLit:
		n, err := strconv.Atoi(e.Value)
		require.NoError(g.t, err)
		return n
	case *ast.Ident:
		require.Contains(g.t, g.env, e.Name)
		return g.env[e.Name]
	case *ast.UnaryExpr:
		require.Equal(g.t, token.SUB, e.Op)
		return -g.value(e.X)
	case *ast.BinaryExpr:
		return g.arith(e.Op.String(), g.value(e.X), g.value(e.Y))
	case *ast.CallExpr:
		f := e.Fun.(*ast.SelectorExpr)
		if f.Sel.Name == "FloorDiv" {
			return g.arith("Div", g.value(e.Args[0]), g.value(e.Args[1]))
		}
		_, number := f.X.(*ast.BasicLit)
		require.False(g.t, number, "a method of a number in %s", g.text)
		return g.arith(f.Sel.Name, g.value(f.X), g.value(e.Args[0]))
	}
	require.Fail(g.t, "unexpected part", "%T in %s", e, g.text)
	return 0
}

func (g *goEval) arith(op string, a, b int) int {
	switch op {
	case "+", "Add":
		return a + b
	case "-", "Sub":
		return a - b
	case "*", "Mul":
		return a * b
	case "Div":
		return kernel.FloorDiv(a, b)
	}
	require.Fail(g.t, "unexpected operator", "%s in %s", op, g.text)
	return 0
}
