// Package sizetest draws sizes and computes the values that generated code gives them.
package sizetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Draw returns a size with symbols A, B and C.
func Draw(t *rapid.T, depth int) shape.Dim {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		if s := rapid.SampledFrom([]string{"A", "B", "C", ""}).Draw(t, "symbol"); s != "" {
			return shape.Sym(s)
		}
		return shape.Const(rapid.IntRange(-9, 9).Draw(t, "number"))
	}
	a, b := Draw(t, depth-1), Draw(t, depth-1)
	join := rapid.SampledFrom([]func(a, b shape.Dim) shape.Dim{shape.Dim.Add, shape.Dim.Sub, shape.Dim.Mul, shape.Dim.FloorDiv, shape.Dim.Min, shape.Dim.Max}).Draw(t, "join")
	return join(a, b)
}

// KeepsValue compares the value that Go computes for a printed size, including parts
// below zero, with the size's value.
func KeepsValue(t *rapid.T, print func(shape.Dim) string) {
	d := Draw(t, 4)
	if d.IsUnknown() {
		return
	}
	text := print(d)
	for range 4 {
		env := map[string]int{}
		for _, s := range d.Symbols() {
			env[s] = rapid.IntRange(0, 9).Draw(t, s)
		}
		want, err := d.Eval(func(s string) (int, bool) { return env[s], true })
		if err != nil {
			continue // a divisor is zero
		}
		require.Equal(t, want, Eval(t, text, env), "%s as %s", d, text)
	}
}

// Eval computes a printed size: operators of ints, kernel.FloorDiv, and the
// methods of tensor.Size.
func Eval(t require.TestingT, text string, env map[string]int) int {
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
		if f, ok := e.Fun.(*ast.Ident); ok {
			require.Equal(g.t, "min", f.Name)
			return min(g.value(e.Args[0]), g.value(e.Args[1]))
		}
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
	case "Min":
		return min(a, b)
	case "Div":
		return kernel.FloorDiv(a, b)
	}
	require.Fail(g.t, "unexpected operator", "%s in %s", op, g.text)
	return 0
}
