package grad_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// TestZeroFactors holds the derivatives that are zero by an attribute to PyTorch 1.13's:
// what comes back is multiplied by the zero, and an infinite one is NaN then.
func TestZeroFactors(t *testing.T) {
	x, y, seed := vec(1, math.Copysign(0, -1), inf, nan, 2), vec(3, 1, 2, 1, 5), vec(1, 1, 1, 1, inf)
	zeros, same := []float64{0, 0, 0, 0, nan}, []float64{1, 1, 1, 1, inf}
	for name, c := range map[string]struct {
		o     *op.Op
		attrs any
		in    []*array.Array
		want  [][]float64
	}{
		"mul":           {std.Mul, std.BinaryAttrs{Other: op.Int(0)}, []*array.Array{x}, [][]float64{zeros}},
		"mul by -0":     {std.Mul, std.BinaryAttrs{Other: op.Float(math.Copysign(0, -1))}, []*array.Array{x}, [][]float64{zeros}},
		"div":           {std.Div, std.DivAttrs{Other: op.Float(inf)}, []*array.Array{x}, [][]float64{zeros}},
		"add":           {std.Add, std.AddAttrs{Alpha: op.Int(0)}, []*array.Array{y, x}, [][]float64{same, zeros}},
		"sub":           {std.Sub, std.SubAttrs{Alpha: op.Int(0)}, []*array.Array{y, x}, [][]float64{same, zeros}},
		"lerp":          {std.Lerp, std.LerpAttrs{Weight: op.Int(0)}, []*array.Array{y, x}, [][]float64{same, zeros}},
		"power of x":    {std.Pow, std.ReversibleAttrs{Other: op.Int(0)}, []*array.Array{x}, [][]float64{{0, 0, 0, 0, 0}}},
		"power, float":  {std.Pow, std.ReversibleAttrs{Other: op.Float(0)}, []*array.Array{x}, [][]float64{{0, 0, 0, 0, 0}}},
		"number to the": {std.Pow, std.ReversibleAttrs{Other: op.Int(1), Reverse: true}, []*array.Array{vec(1, 0, 2, 3, 2)}, [][]float64{zeros}},
	} {
		t.Run(name, func(t *testing.T) {
			k := call{o: c.o, attrs: c.attrs, in: c.in, seeds: []*array.Array{seed}}
			names, operands := k.wrt()
			m, err := grad.VJP(ctx, k.module(), grad.Options{Wrt: names})
			require.NoError(t, err)
			out, err := fx.NewGraphModule(m).RunArrays(ctx, k.inputs())
			require.NoError(t, err, "%s", m)
			for i, g := range out[len(out)-len(operands):] {
				got := array.Data[float64](g)
				for j, w := range c.want[i] {
					require.True(t, w == got[j] || w != w && got[j] != got[j], "operand %d: got %v, want %v", i, got, c.want[i])
				}
			}
		})
	}
}

// TestZeroOrSteps tells a factor of zero from what changes in steps, which has no derivative.
func TestZeroOrSteps(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(x *tensor.Tensor) *tensor.Tensor
		steps string
	}{
		"times zero":        {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(0).Sum() }, ""},
		"plus, times zero":  {func(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(3).MulScalar(0).Sum() }, ""},
		"power zero":        {func(x *tensor.Tensor) *tensor.Tensor { return x.PowScalar(0).Sum() }, ""},
		"minus itself":      {func(x *tensor.Tensor) *tensor.Tensor { return x.Sub(x).Sum() }, ""},
		"times zeros":       {func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(tensor.Zeros(3)).Sum() }, ""},
		"the other branch":  {func(x *tensor.Tensor) *tensor.Tensor { return tensor.Where(x.Isnan(), x, tensor.Zeros(3)).Sum() }, ""},
		"floor":             {func(x *tensor.Tensor) *tensor.Tensor { return x.Floor().Sum() }, "floor"},
		"sign":              {func(x *tensor.Tensor) *tensor.Tensor { return x.Sign().MulScalar(2).Sum() }, "sign"},
		"floor, times zero": {func(x *tensor.Tensor) *tensor.Tensor { return x.Floor().MulScalar(0).Sum() }, "floor"},
		"times zero, floor": {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(0).Floor().Sum() }, "floor"},
		"a comparison":      {func(x *tensor.Tensor) *tensor.Tensor { return x.GtScalar(0).Cast(array.F64).Sum() }, "gt"},
		"floored division":  {func(x *tensor.Tensor) *tensor.Tensor { return x.FloorDivideScalar(2).Sum() }, "floor_divide"},
		"ones of its shape": {func(x *tensor.Tensor) *tensor.Tensor { return x.OnesLike().Sum() }, "ones_like"},
		"chosen by a number": {func(x *tensor.Tensor) *tensor.Tensor {
			return tensor.Where(x.GtScalar(0), tensor.Zeros(3), tensor.Ones(3)).Sum()
		}, "gt"},
	} {
		t.Run(name, func(t *testing.T) {
			gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return c.f(x.Cast(array.F64)) }, fx.Input("x", "f64[3]"))
			require.NoError(t, err)
			g, err := gm.ValueAndGrad(ctx, fx.GradOptions{Wrt: []string{"x"}})
			if c.steps != "" {
				require.ErrorIs(t, err, grad.Unreached)
				require.ErrorContains(t, err, c.steps)
				return
			}
			require.NoError(t, err)
			out, err := g.RunArrays(ctx, []*array.Array{vec(1, inf, -2)})
			require.NoError(t, err)
			require.Equal(t, []float64{0, 0, 0}, array.Data[float64](array.Contiguous(out[1])))
		})
	}
}
