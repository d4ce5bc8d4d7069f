package expr

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestForwardHasARuleForEveryOperation(t *testing.T) {
	require.Empty(t, forward.Lacking())
}

// derivative evaluates the derivative of f at x, times seed.
func derivative(f func(b *Builder, x Value) Value, x, seed float64) float64 {
	b := NewBuilder()
	in := b.Input(0, array.F64)
	body := b.Graph(f(b, in))
	d, _ := Chain(b, array.F64, Partials(b, body, 0, []Value{in}, nil), []Value{b.Input(1, array.F64)})
	bits := b.Eval([]Value{d}, []uint64{math.Float64bits(x), math.Float64bits(seed)})
	return math.Float64frombits(bits[0])
}

func TestPartials_areDerivatives(t *testing.T) {
	for name, f := range map[string]func(b *Builder, x Value) Value{
		"cube":      func(b *Builder, x Value) Value { return b.Mul(x, b.Mul(x, x)) },
		"quotient":  func(b *Builder, x Value) Value { return b.Div(b.Sin(x), b.Add(x, b.Like(x, 3))) },
		"power":     func(b *Builder, x Value) Value { return b.Pow(b.Add(x, b.Like(x, 2)), x) },
		"fma":       func(b *Builder, x Value) Value { return b.FMA(x, b.Exp(x), b.Tanh(x)) },
		"remainder": func(b *Builder, x Value) Value { return b.Mod(b.Mul(x, b.Like(x, 5)), b.Add(x, b.Like(x, 2))) },
		"select":    func(b *Builder, x Value) Value { return b.Select(b.Gt(x, b.Like(x, 0.5)), b.Log(x), b.Neg(x)) },
	} {
		for _, x := range []float64{0.3, 0.7, 1.9} {
			value := func(x float64) float64 {
				b := NewBuilder()
				bits := b.Eval([]Value{f(b, b.Input(0, array.F64))}, []uint64{math.Float64bits(x)})
				return math.Float64frombits(bits[0])
			}
			want := (value(x+1e-6) - value(x-1e-6)) / 2e-6
			require.InDelta(t, 2*want, derivative(f, x, 2), 1e-6*(1+math.Abs(want)), "%s at %v", name, x)
		}
	}
}

// The branch that is not taken never gives NaN, nor does a seed that meets its zero.
func TestChain_choosesBeforeItMultiplies(t *testing.T) {
	elu := func(b *Builder, x Value) Value { return b.Select(b.Gt(x, b.Like(x, 0)), x, b.Expm1(x)) }
	require.Equal(t, 1.0, derivative(elu, math.Inf(1), 1))
	relu := func(b *Builder, x Value) Value { return b.Max(x, b.Like(x, 0)) }
	require.Equal(t, 0.0, derivative(relu, -1, math.NaN()))
	require.Equal(t, 0.0, derivative(relu, -1, math.Inf(1)))
}

// f16 is computed in f32 and rounded once.
func TestChain_roundsOnce(t *testing.T) {
	b := NewBuilder()
	x := b.Input(0, array.F16)
	wide := b.Widen(x)
	body := b.Graph(b.Cast(b.Mul(wide, b.Mul(wide, wide)), array.F16))
	d, ok := Chain(b, array.F16, Partials(b, body, 0, []Value{x}, nil), []Value{b.Input(1, array.F16)})
	require.True(t, ok)
	casts := 0
	for _, n := range b.Graph(d).Nodes {
		if n.DType == array.F16 && len(n.Args) > 0 {
			casts++
		}
	}
	require.Equal(t, 1, casts, "%s", b.Graph(d))
}
