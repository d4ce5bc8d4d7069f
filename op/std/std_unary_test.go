package std

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

func relu6(x float64) float64 { return nanMin(nanMax(x, 0), 6) }

func sign(x float64) float64 { return float64(b2i(x > 0) - b2i(x < 0)) }

func celu(alpha, x float64) float64 {
	if x > 0 {
		return x
	}
	return alpha * math.Expm1(x/alpha)
}

func softplusRef(a SoftplusAttrs, x float64) float64 {
	if x*a.Beta > a.Threshold {
		return x
	}
	return math.Log1p(math.Exp(x*a.Beta)) / a.Beta
}

func clampRef(a ClampAttrs, x float64) float64 {
	if a.Min.Present() {
		x = nanMax(x, a.Min.Float64())
	}
	if a.Max.Present() {
		x = nanMin(x, a.Max.Float64())
	}
	return x
}

func geluRef(a GeluAttrs, x float64) float64 {
	if a.Approximate == "tanh" {
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	return 0.5 * x * (1 + math.Erf(x/math.Sqrt2))
}

func boolRef(f func(x float64) bool) func(any, float64) float64 {
	return func(_ any, x float64) float64 { return float64(b2i(f(x))) }
}

func plainRef(f func(x float64) float64) func(any, float64) float64 {
	return func(_ any, x float64) float64 { return f(x) }
}

// unaryRefs are the meanings on float64.
var unaryRefs = map[*op.Op]func(a any, x float64) float64{
	Neg: plainRef(func(x float64) float64 { return -x }), Abs: plainRef(math.Abs), Sign: plainRef(sign),
	Square:     plainRef(func(x float64) float64 { return x * x }),
	Reciprocal: plainRef(func(x float64) float64 { return 1 / x }),
	Exp:        plainRef(math.Exp), Expm1: plainRef(math.Expm1), Log: plainRef(math.Log), Log1p: plainRef(math.Log1p), Log2: plainRef(math.Log2),
	Sqrt: plainRef(math.Sqrt), Rsqrt: plainRef(func(x float64) float64 { return 1 / math.Sqrt(x) }), Erf: plainRef(math.Erf),
	Sin: plainRef(math.Sin), Cos: plainRef(math.Cos), Tan: plainRef(math.Tan), Atan: plainRef(math.Atan),
	Asin: plainRef(math.Asin), Acos: plainRef(math.Acos), Sinh: plainRef(math.Sinh), Cosh: plainRef(math.Cosh),
	Asinh: plainRef(math.Asinh), Acosh: plainRef(math.Acosh), Atanh: plainRef(math.Atanh),
	Floor: plainRef(math.Floor), Ceil: plainRef(math.Ceil), Round: plainRef(math.RoundToEven), Trunc: plainRef(math.Trunc),
	Isnan: boolRef(math.IsNaN), Isinf: boolRef(func(x float64) bool { return math.IsInf(x, 0) }),
	Isfinite:   boolRef(func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }),
	LogicalNot: boolRef(func(x float64) bool { return x == 0 }),
	Clamp:      func(a any, x float64) float64 { return clampRef(a.(ClampAttrs), x) },
	Relu:       plainRef(func(x float64) float64 { return nanMax(x, 0) }), Relu6: plainRef(relu6),
	Gelu:        func(a any, x float64) float64 { return geluRef(a.(GeluAttrs), x) },
	Silu:        plainRef(func(x float64) float64 { return x / (1 + math.Exp(-x)) }),
	Hardswish:   plainRef(func(x float64) float64 { return x * relu6(x+3) / 6 }),
	Hardsigmoid: plainRef(func(x float64) float64 { return relu6(x+3) / 6 }),
	Sigmoid:     plainRef(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	Tanh:        plainRef(math.Tanh),
	Logsigmoid: plainRef(func(x float64) float64 {
		if x < -700 {
			return x
		}
		return -math.Log1p(math.Exp(-x))
	}),
	Selu:     plainRef(func(x float64) float64 { return 1.0507009873554805 * celuAlpha(1.6732632423543772, x) }),
	Softsign: plainRef(func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	Mish:     plainRef(func(x float64) float64 { return x * math.Tanh(softplusRef(SoftplusAttrs{1, 20}, x)) }),
	Hardtanh: func(a any, x float64) float64 {
		return nanMin(nanMax(x, a.(HardtanhAttrs).MinVal), a.(HardtanhAttrs).MaxVal)
	},
	Elu:  func(a any, x float64) float64 { return celuAlpha(a.(AlphaAttrs).Alpha, x) },
	Celu: func(a any, x float64) float64 { return celu(a.(AlphaAttrs).Alpha, x) },
	LeakyRelu: func(a any, x float64) float64 {
		if x < 0 {
			return a.(LeakyReluAttrs).NegativeSlope * x
		}
		return x
	},
	Softplus: func(a any, x float64) float64 { return softplusRef(a.(SoftplusAttrs), x) },
	Threshold: func(a any, x float64) float64 {
		if v := a.(ThresholdAttrs); x <= v.Threshold {
			return v.Value
		}
		return x
	},
}

func celuAlpha(alpha, x float64) float64 {
	if x > 0 {
		return x
	}
	return alpha * math.Expm1(x)
}

func TestUnaryValues(t *testing.T) {
	for o, f := range unaryRefs {
		for n, s := range o.Samples() {
			name := fmt.Sprintf("%s/%d %s %v", o.Name, n, s.Name, s.Attrs)
			out := eval(t, o, s.Attrs, s.In...)
			x := array.Contiguous(s.In[0])
			for i := range out.Len() {
				want := f(s.Attrs, array.Float64At(x, i))
				requireNear(t, want, out, i, fmt.Sprintf("%s: of %v", name, array.Float64At(x, i)))
			}
		}
	}
}

// Values of PyTorch 2, to the digits that it prints.
func TestKnownActivations(t *testing.T) {
	x := array.FromSlice([]float32{-3, -1, -0.5, 0, 0.5, 1, 3})
	for _, c := range []struct {
		o    *op.Op
		a    any
		want []float64
	}{
		{Gelu, GeluAttrs{}, []float64{-0.0040, -0.1587, -0.1543, 0, 0.3457, 0.8413, 2.9960}},
		{Gelu, GeluAttrs{"tanh"}, []float64{-0.0036, -0.1588, -0.1543, 0, 0.3457, 0.8412, 2.9964}},
		{Silu, op.None{}, []float64{-0.1423, -0.2689, -0.1888, 0, 0.3112, 0.7311, 2.8577}},
		{Mish, op.None{}, []float64{-0.1456, -0.3034, -0.2207, 0, 0.3752, 0.8651, 2.9865}},
		{Hardswish, op.None{}, []float64{0, -0.3333, -0.2083, 0, 0.2917, 0.6667, 3}},
		{Selu, op.None{}, []float64{-1.6706, -1.1113, -0.6918, 0, 0.5254, 1.0507, 3.1521}},
		{Softplus, SoftplusAttrs{1, 20}, []float64{0.0486, 0.3133, 0.4741, 0.6931, 0.9741, 1.3133, 3.0486}},
		{Logsigmoid, op.None{}, []float64{-3.0486, -1.3133, -0.9741, -0.6931, -0.4741, -0.3133, -0.0486}},
		{Elu, AlphaAttrs{1}, []float64{-0.9502, -0.6321, -0.3935, 0, 0.5, 1, 3}},
	} {
		out := eval(t, c.o, c.a, x)
		for i, want := range c.want {
			require.InDelta(t, want, array.Float64At(out, i), 5.1e-5, "%s of %v", c.o.Name, array.Float64At(x, i))
		}
	}
}

func TestUnaryCorners(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f32 := func(v ...float32) *array.Array { return array.FromSlice(v) }
	require.Equal(t, []float32{-2, 0, 0, 2, 2, 4}, array.Data[float32](eval(t, Round, op.None{}, f32(-1.5, -0.5, 0.5, 1.5, 2.5, 3.5))))
	for _, o := range []*op.Op{Relu, Relu6, Hardswish, Hardsigmoid, Selu, Logsigmoid, Mish} {
		require.True(t, math.IsNaN(array.Float64At(eval(t, o, op.None{}, f32(nan)), 0)), o.Name)
	}
	require.Equal(t, []float32{inf, 1e4, 20.5}, array.Data[float32](eval(t, Softplus, SoftplusAttrs{1, 20}, f32(inf, 1e4, 20.5))))
	require.Equal(t, []float32{1, 1}, array.Data[float32](eval(t, Clamp, ClampAttrs{Min: op.Int(3), Max: op.Int(1)}, f32(-5, 5))))
	require.Equal(t, []float32{-100}, array.Data[float32](eval(t, Logsigmoid, op.None{}, f32(-100))))
	// Integers are not rounded through floats.
	big := array.FromSlice([]int64{1<<62 + 1})
	require.Equal(t, []int64{1<<62 + 1}, array.Data[int64](eval(t, Floor, op.None{}, big)))
	require.Equal(t, []int64{1<<62 + 1}, array.Data[int64](eval(t, Relu, op.None{}, big)))
	require.Equal(t, []bool{false}, array.Data[bool](eval(t, Isnan, op.None{}, big)))
	require.Equal(t, []bool{true}, array.Data[bool](eval(t, Isfinite, op.None{}, big)))
	require.Equal(t, []int64{^(int64(1)<<62 + 1)}, array.Data[int64](eval(t, BitwiseNot, op.None{}, big)))
	require.Equal(t, []bool{false, true}, array.Data[bool](eval(t, BitwiseNot, op.None{}, array.FromSlice([]bool{true, false}))))
}

func TestCastValues(t *testing.T) {
	for _, s := range Cast.Samples() {
		out := eval(t, Cast, s.Attrs, s.In...)
		a := s.Attrs.(CastAttrs)
		require.True(t, array.Equal(array.CastRounded(s.In[0], a.DType, a.rounding()), out), "%s to %s", s.Name, out.DType())
	}
	special := array.FromSlice([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 2.9, -2.9, 300})
	for _, d := range array.DTypes() {
		require.True(t, array.Equal(array.Cast(special, d), eval(t, Cast, CastAttrs{DType: d}, special)), "%s", d)
	}
}

func TestSelection(t *testing.T) {
	for n, s := range Where.Samples() {
		out := eval(t, Where, s.Attrs, s.In...)
		cond, x := spread(s.In[0], out), spread(s.In[1], out)
		other := array.New(array.F64, out.Shape()...)
		if len(s.In) == 3 {
			other = spread(s.In[2], out)
		} else {
			for i := range other.Len() {
				array.SetFloat64At(other, i, s.Attrs.(WhereAttrs).Other.Float64())
			}
		}
		for i := range out.Len() {
			want := other
			if array.Data[bool](cond)[i] {
				want = x
			}
			requireNear(t, array.Float64At(want, i), out, i, fmt.Sprintf("where/%d %s", n, s.Name))
		}
	}
	for n, s := range MaskedFill.Samples() {
		out := eval(t, MaskedFill, s.Attrs, s.In...)
		x, mask := spread(s.In[0], out), spread(s.In[1], out)
		for i := range out.Len() {
			want := array.Float64At(x, i)
			if array.Data[bool](mask)[i] {
				want = s.Attrs.(MaskedFillAttrs).Value.Float64()
			}
			requireNear(t, want, out, i, fmt.Sprintf("masked_fill/%d %s", n, s.Name))
		}
	}
	_, err := Where.Eval(&kernel.Workspace{}, WhereAttrs{}, []*array.Array{array.New(array.Bool), array.New(array.F32), nil})
	require.ErrorIs(t, err, op.OperandCount)
}

func TestComposedElementwise(t *testing.T) {
	for n, s := range Prelu.Samples() {
		out := eval(t, Prelu, s.Attrs, s.In...)
		x, w := array.Contiguous(s.In[0]), s.In[1]
		inner := 1
		for i := 2; i < x.Rank(); i++ {
			inner *= x.Dim(i)
		}
		for i := range out.Len() {
			want := array.Float64At(x, i)
			if !(want > 0) {
				want *= array.Float64At(w, i/inner%w.Len())
			}
			requireNear(t, want, out, i, fmt.Sprintf("prelu/%d %s", n, s.Name))
		}
	}
	for n, s := range Glu.Samples() {
		out := eval(t, Glu, s.Attrs, s.In...)
		dim := s.Attrs.(DimAttrs).Dim
		half := out.Dim(dim)
		a, b := array.Contiguous(array.Slice(s.In[0], dim, 0, half, 1)), array.Contiguous(array.Slice(s.In[0], dim, half, 2*half, 1))
		for i := range out.Len() {
			requireNear(t, array.Float64At(a, i)/(1+math.Exp(-array.Float64At(b, i))), out, i, fmt.Sprintf("glu/%d %s", n, s.Name))
		}
	}
	for _, s := range OneHot.Samples() {
		out := eval(t, OneHot, s.Attrs, s.In...)
		x, classes := array.Contiguous(s.In[0]), out.Dim(-1)
		for i, v := range array.Data[int64](out) {
			require.Equal(t, b2i(array.Int64At(x, i/classes) == int64(i%classes)), v, s.Name)
		}
	}
}
