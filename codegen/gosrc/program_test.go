package gosrc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// TestFormulas writes programs, with the least parentheses that keep the order of
// operations.
func TestFormulas(t *testing.T) {
	b := expr.NewBuilder()
	x, y, c, n := b.Input(0, array.F32), b.Input(1, array.F32), b.Const(array.F32, 0.1), b.Input(0, array.I64)
	less, h := b.Op(kernel.OpLt, x, y), b.Tanh(b.Add(x, c))
	for want, outs := range map[string][]expr.Value{
		"x*0.1":                     {b.Mul(x, c)},
		"x*sigmoid(x)":              {b.Mul(x, b.Sigmoid(x))},
		"a - (b - 0.1)":             {b.Sub(x, b.Sub(y, c))},
		"a - b - 0.1":               {b.Sub(b.Sub(x, y), c)},
		"(a + b)*-a/(a/b)":          {b.Div(b.Mul(b.Add(x, y), b.Neg(x)), b.Div(x, y))},
		"select(a < b, a, 0.1)":     {b.Op(kernel.OpSelect, less, x, c)},
		"(a < b) & (a != b)":        {b.Op(kernel.OpAnd, less, b.Op(kernel.OpNe, x, y))},
		"t = tanh(x + 0.1); t*t, t": {b.Mul(h, h), h},
		"f32(x) + 0.1":              {b.Add(b.Cast(n, array.F32), c)},
		"x + 3":                     {b.Add(n, b.ConstInt(array.I64, 3))},
		"i, coord(-1)":              {b.Index(), b.Coord(-1)},
		"min(max(x, 0), 6)":         {b.Min(b.Max(x, b.Const(array.F32, 0)), b.Const(array.F32, 6))},
	} {
		p := b.Compile(outs...)
		require.Equal(t, want, gosrc.Formula(&p))
	}
	long := x
	for range 200 {
		long = b.Exp(long)
	}
	p := b.Compile(long)
	require.Len(t, []rune(gosrc.Formula(&p)), 201)
}

func TestImportsAreGrouped(t *testing.T) {
	group := func(s string) string { return string(gosrc.GroupImports([]byte(s))) }
	require.Equal(t, "package p\n\nimport (\n\t_ \"embed\"\n\t\"io\"\n\n\ta \"a.b/c\"\n\t\"github.com/x/y\"\n)\n\nvar x = 1\n",
		group("package p\n\nimport (\n\ta \"a.b/c\"\n\t_ \"embed\"\n\t\"github.com/x/y\"\n\t\"io\"\n)\n\nvar x = 1\n"))
	for _, same := range []string{"package p\n", "package p\n\nimport \"io\"\n", "package p\n\nimport (\n\t\"io\"\n\t\"os\"\n)\n"} {
		require.Equal(t, same, group(same))
	}
}

// TestFormulasOfEveryOperation: a formula names what each operation reads, and tells the operations apart.
func TestFormulasOfEveryOperation(t *testing.T) {
	seen := map[string]kernel.Code{}
	for _, code := range kernel.Codes() {
		arity := code.Info().Arity
		if arity == 0 || code == kernel.OpOutput || code == kernel.OpCast {
			continue
		}
		d := array.F32
		if !code.Accepts(d) {
			d = array.U32
		}
		b := expr.NewBuilder()
		var in []expr.Value
		for k := range arity {
			in = append(in, b.Input(k, d))
			if code == kernel.OpSelect && k == 0 {
				in[0] = b.Input(0, array.Bool)
			}
		}
		p := b.Compile(b.Op(code, in...))
		text := gosrc.Formula(&p)
		for k := range arity {
			require.Contains(t, text, map[bool]string{true: "x", false: string(rune('a' + k))}[arity == 1], code)
		}
		require.NotContains(t, seen, text, code)
		seen[text] = code
	}
}
