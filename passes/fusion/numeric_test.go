package fusion_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

type tt = *tensor.Tensor

// rounding is the largest relative error of one rounding to f32.
const rounding = 0x1p-24

var inf = math.Inf(1)

// keep reduces the last dimension and keeps it.
var keep = tensor.ReduceAttrs{KeepDim: true}

// special returns rows with zeros, NaN, infinities, and numbers that are tiny,
// equal, or far apart, among random ones.
func special(cols int) *array.Array {
	r := passes.Random{State: 3}
	a := array.Cast(r.Array(array.F64, 12, cols), array.F32)
	v := array.Data[float32](a)
	for i := range v {
		v[i] *= 4
	}
	row := func(i int, f func(k int) float64) {
		for k := range cols {
			v[i*cols+k] = float32(f(k))
		}
	}
	row(0, func(k int) float64 { return 0 })
	row(1, func(k int) float64 { return math.Copysign(0, -1) })
	row(2, func(k int) float64 { return float64(k)*1e-40 - 2e-40 })
	row(3, func(k int) float64 { return 100 + float64(k) })
	row(4, func(k int) float64 { return -100 * float64(k) })
	v[5*cols], v[6*cols+1], v[7*cols+2] = float32(math.NaN()), float32(inf), float32(-inf)
	row(8, func(k int) float64 { return -inf })
	row(9, func(k int) float64 { return inf })
	row(10, func(k int) float64 { return -86 - float64(k)/8 }) // where exp overflows
	return a
}

// captured returns the graph of a function of inputs of the types of in.
func captured(t *testing.T, f any, in []*array.Array) *fx.GraphModule {
	t.Helper()
	var opts []fx.Option
	for i, x := range in {
		opts = append(opts, fx.Input(string(rune('a'+i)), shape.TypeOf(x).String()))
	}
	gm, err := fx.Trace(context.Background(), f, opts...)
	require.NoError(t, err)
	return gm
}

// apply runs a pass on a captured function, which must match n times, and returns
// the results before and after it.
func apply(t *testing.T, p passes.Pass, n int, f any, in ...*array.Array) (before, after *array.Array) {
	t.Helper()
	gm := captured(t, f, in)
	run := func() *array.Array {
		out, err := (&interp.Interpreter{State: interp.NewState(gm.Module)}).RunArrays(context.Background(), in)
		require.NoError(t, err)
		return out[0]
	}
	before = run()
	_, err := gm.Apply(context.Background(), []passes.Pass{p}, fx.PassOptions{Expect: []passes.Expectation{passes.Expect(p.Name, n)}})
	require.NoError(t, err)
	return before, run()
}

// within demands that results agree element by element: NaN with NaN, infinities
// exactly, numbers within a bound.
func within(t *testing.T, want, got *array.Array, bound func(i int) float64) {
	t.Helper()
	worst := 0.0
	for i := range want.Len() {
		w, g := array.Float64At(want, i), array.Float64At(got, i)
		if w == g || math.IsNaN(w) && math.IsNaN(g) {
			continue
		}
		ratio := math.Abs(w-g) / bound(i)
		require.LessOrEqual(t, ratio, 1.0, "element %d is %g, it was %g", i, g, w)
		worst = max(worst, ratio)
	}
	t.Logf("the largest difference is %.2f of the bound", worst)
}

// TestActivationsAgree holds the bounds that the passes state.
func TestActivationsAgree(t *testing.T) {
	of := func(roundings float64, of func(x, y float64) float64, x, y *array.Array) func(i int) float64 {
		return func(i int) float64 {
			return roundings*rounding*math.Abs(of(array.Float64At(x, i), array.Float64At(y, i))) + 0x1p-121
		}
	}
	result := func(x, y float64) float64 { return y }
	argument := func(x, y float64) float64 { return x }
	gate := func(x tt) tt { return x.AddScalar(3).Clamp(0, 6) }
	cube := func(x tt) tt { return x.Add(x.PowScalar(3).MulScalar(0.044715)) }
	for name, c := range map[string]struct {
		pass      passes.Pass
		f         func(x tt) tt
		roundings float64
		of        func(x, y float64) float64
	}{
		"silu":                {fusion.Silu, func(x tt) tt { return x.Mul(x.Sigmoid()) }, 0, result},
		"silu by quotient":    {fusion.Silu, func(x tt) tt { return x.Div(x.Neg().Exp().AddScalar(1)) }, 4, result},
		"hardswish":           {fusion.Hardswish, func(x tt) tt { return x.Mul(gate(x)).DivScalar(6) }, 0, result},
		"hardswish by gate":   {fusion.Hardswish, func(x tt) tt { return gate(x).MulScalar(1.0 / 6).Mul(x) }, 4, result},
		"hardswish by scale":  {fusion.Hardswish, func(x tt) tt { return x.DivScalar(6).Mul(gate(x)) }, 4, result},
		"hardswish by a part": {fusion.Hardswish, func(x tt) tt { return x.Mul(x.Hardsigmoid()) }, 4, result},
		"gelu":                {fusion.Gelu, func(x tt) tt { return x.MulScalar(0.5).Mul(x.DivScalar(math.Sqrt2).Erf().AddScalar(1)) }, 8, argument},
		"gelu, product first": {fusion.Gelu, func(x tt) tt { return x.Mul(x.MulScalar(math.Sqrt2 / 2).Erf().AddScalar(1)).MulScalar(0.5) }, 8, argument},
		"gelu, few digits":    {fusion.Gelu, func(x tt) tt { return x.Mul(x.DivScalar(1.414213).Erf().AddScalar(1)).DivScalar(2) }, 8 + 1e-6/rounding, argument},
		"gelu by tanh": {fusion.Gelu, func(x tt) tt {
			return x.MulScalar(0.5).Mul(cube(x).MulScalar(math.Sqrt(2 / math.Pi)).Tanh().AddScalar(1))
		}, 8, argument},
		"gelu by tanh, factored": {fusion.Gelu, func(x tt) tt {
			return x.MulScalar(0.5).Mul(x.MulScalar(math.Sqrt(2 / math.Pi)).Mul(x.Mul(x).MulScalar(0.044715).AddScalar(1)).Tanh().AddScalar(1))
		}, 8, argument},
	} {
		t.Run(name, func(t *testing.T) {
			x := special(33)
			before, after := apply(t, c.pass, 1, c.f, x)
			within(t, before, after, of(c.roundings, c.of, x, before))
		})
	}
}

func TestSoftmaxAgrees(t *testing.T) {
	before, after := apply(t, fusion.Softmax, 1, func(x tt) tt {
		e := x.Sub(x.AmaxWith(-1, keep)).Exp()
		return e.Div(e.SumWith(-1, keep))
	}, special(33))
	within(t, before, after, func(i int) float64 { return 8*rounding*array.Float64At(before, i) + 0x1p-126 })
}

func TestNormsAgree(t *testing.T) {
	const cols = 33
	r := passes.Random{State: 5}
	x, w, b := special(cols), r.Array(array.F32, cols), r.Array(array.F32, cols)
	// spread returns the mean and the deviation of a row.
	spread := func(row int) (mean, dev float64) {
		for k := range cols {
			mean += array.Float64At(x, row*cols+k) / cols
		}
		for k := range cols {
			d := array.Float64At(x, row*cols+k) - mean
			dev += d * d / cols
		}
		return mean, math.Sqrt(dev + 1e-5)
	}
	t.Run("layer norm", func(t *testing.T) {
		before, after := apply(t, fusion.LayerNorm, 1, func(x, w, b tt) tt {
			d := x.Sub(x.MeanWith(-1, keep))
			return d.Div(d.PowScalar(2).MeanWith(-1, keep).AddScalar(1e-5).Sqrt()).Mul(w).Add(b)
		}, x, w, b)
		within(t, before, after, func(i int) float64 {
			mean, dev := spread(i / cols)
			size := math.Abs(array.Float64At(w, i%cols))*(math.Abs(array.Float64At(x, i))+math.Abs(mean))/dev + math.Abs(array.Float64At(b, i%cols))
			return 16*rounding*size + 0x1p-126
		})
	})
	t.Run("layer norm by var and rsqrt", func(t *testing.T) {
		before, after := apply(t, fusion.LayerNorm, 1, func(x tt) tt {
			v := x.VarWith(-1, tensor.VarAttrs{KeepDim: true, Correction: tensor.Number(0)})
			return x.Sub(x.MeanWith(-1, keep)).Mul(v.AddScalar(1e-5).Rsqrt())
		}, x)
		within(t, before, after, func(i int) float64 {
			mean, dev := spread(i / cols)
			return 16*rounding*(math.Abs(array.Float64At(x, i))+math.Abs(mean))/dev + 0x1p-126
		})
	})
	t.Run("rms norm", func(t *testing.T) {
		before, after := apply(t, fusion.RmsNorm, 1, func(x, w tt) tt {
			return w.Mul(x.Mul(x.PowScalar(2).MeanWith(-1, keep).AddScalar(1e-6).Rsqrt()))
		}, x, w)
		within(t, before, after, func(i int) float64 { return 8*rounding*math.Abs(array.Float64At(before, i)) + 0x1p-126 })
	})
}

// recognised returns the graph of a function after the attention pass.
func recognised(t *testing.T, f any, in ...*array.Array) string {
	t.Helper()
	gm := captured(t, f, in)
	_, err := gm.Apply(context.Background(), []passes.Pass{fusion.Attention}, fx.PassOptions{})
	require.NoError(t, err)
	return gm.Graph.String()
}
