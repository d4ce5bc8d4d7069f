package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// TestFoldGoesThroughAllOnce: operands come before their users, each node once, and outs
// are in the order of the graph's.
func TestFoldGoesThroughAllOnce(t *testing.T) {
	b := expr.NewBuilder()
	x := b.Input(0, array.F32)
	e := b.Exp(x)
	g := b.Graph(b.Mul(e, e), x, b.Add(e, x))
	var order []int
	outs := expr.Fold(g, func(i int, n expr.Node, args []int) int {
		require.Equal(t, g.Nodes[i], n)
		require.Equal(t, len(n.Args), len(args))
		for k, a := range n.Args {
			require.Equal(t, a, args[k])
		}
		order = append(order, i)
		return i
	})
	require.Equal(t, []int{0, 1, 2, 3}, order)
	require.Equal(t, g.Outs, outs)
	require.Empty(t, expr.Fold(expr.Graph{}, func(int, expr.Node, []int) int { panic("no nodes") }))
}

// TestForms_lacking: all operations of graphs are asked for, and one without a form is
// a bug with its name.
func TestForms_lacking(t *testing.T) {
	forms := expr.Forms[string]{}
	require.Len(t, forms.Lacking(), len(kernel.Codes())-1)
	require.NotContains(t, forms.Lacking(), kernel.OpOutput)
	for _, code := range forms.Lacking() {
		forms[code] = code.String()
		require.Equal(t, code.String(), forms.Of(code))
	}
	require.Empty(t, forms.Lacking())
	delete(forms, kernel.OpErf)
	require.Equal(t, []kernel.Code{kernel.OpErf}, forms.Lacking())
	require.PanicsWithError(t, "internal error: expr: the target's table has no form of erf [FX9001]\n    hint: add one to the table",
		func() { forms.Of(kernel.OpErf) })
}

// TestProgramsAreReadBack: what a program computes is the expression that it was compiled
// from, whatever registers it shares.
func TestProgramsAreReadBack(t *testing.T) {
	b := expr.NewBuilder()
	x, y, n := b.Input(0, array.F32), b.Input(1, array.F64), b.Input(3, array.I8)
	less := b.Op(kernel.OpLt, b.Cast(x, array.F64), y)
	chosen := b.Op(kernel.OpSelect, less, x, b.Const(array.F32, 0.5))
	long := chosen
	for range 40 {
		long = b.Add(b.Mul(long, x), b.Const(array.F32, 2))
	}
	for _, outs := range [][]expr.Value{
		{x}, {x, x}, {b.Const(array.I64, 7)}, {less, chosen}, {long, y, n},
		{b.CastRounded(x, array.F8E4M3FN, array.RoundDown), b.Add(b.Index(), b.Coord(-1))},
		{b.IsNaN(y), b.Not(less), b.Add(b.Cast(n, array.U16), b.Cast(less, array.U16))},
	} {
		p := b.Compile(outs...)
		again := expr.NewBuilder()
		in := make([]expr.Value, len(p.Inputs))
		for i, d := range p.Inputs {
			if d != array.Invalid {
				in[i] = again.Input(i, d)
			}
		}
		read := again.Inline(expr.FromProgram(&p), in)
		require.Equal(t, b.Graph(outs...).String(), again.Graph(read...).String())
		require.Equal(t, p, again.Compile(read...))
	}
}

func TestProgramsThatReadNothingAreBugs(t *testing.T) {
	p := kernel.Program{Outputs: []array.DType{array.F32}, Regs: [3]int{2, 0, 0},
		Code: []kernel.Instr{{Op: kernel.OpOutput, DType: array.F32, A: 1}}}
	require.PanicsWithError(t, "internal error: expr: the program reads register 1 in output before anything writes it [FX9001]\n    hint: compile the program with a Builder",
		func() { expr.FromProgram(&p) })
	p.Code[0].Imm = 1 // there is one output
	require.Panics(t, func() { expr.FromProgram(&p) })
}
