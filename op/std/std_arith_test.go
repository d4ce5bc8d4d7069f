package std

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

var elementwiseOps = []*op.Op{Add, Sub, Mul, Div, FloorDivide, Remainder, Fmod, Pow, Maximum, Minimum,
	Neg, Abs, Square, Sign, Reciprocal, Exp, Expm1, Log, Log1p, Log2, Sqrt, Rsqrt, Erf, Sin, Cos, Tan, Atan, Asin, Acos, Sinh, Cosh, Asinh, Acosh, Atanh,
	Floor, Ceil, Round, Trunc, Isnan, Isinf, Isfinite, Clamp, Cast, Full, ZerosLike, OnesLike, FullLike, Arange, Linspace, Eye, Tril, Triu,
	Rand, Randn, Randint, Bernoulli, Dropout, FoldIn, RandomSplit,
	Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor, LogicalNot,
	BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseLeftShift, BitwiseRightShift, BitwiseNot, Where, MaskedFill,
	Relu, Relu6, Gelu, Silu, Hardswish, Hardsigmoid, Sigmoid, Tanh, Logsigmoid, Selu, Softsign, Mish,
	Prelu, Glu, OneHot, Zeros, Ones,
	Hardtanh, Elu, Celu, LeakyRelu, Softplus, Threshold}

func TestElementwiseTypes(t *testing.T) {
	for _, o := range elementwiseOps {
		checkSamples(t, o, func(*testing.T, op.Sample, *array.Array) {})
		checkBad(t, o)
	}
}

// twoArrays returns the operands of a binary sample, numbers as arrays, in the
// order in which the operator applies, and alpha.
func twoArrays(s op.Sample, compared bool) (l, r *array.Array, alpha float64) {
	number, reverse, a := op.Scalar{}, false, op.Scalar{}
	switch v := s.Attrs.(type) {
	case BinaryAttrs:
		number = v.Other
	case ReversibleAttrs:
		number, reverse = v.Other, v.Reverse
	case AddAttrs:
		number, a = v.Other, v.Alpha
	case SubAttrs:
		number, reverse, a = v.Other, v.Reverse, v.Alpha
	case DivAttrs:
		number, reverse = v.Other, v.Reverse
	}
	alpha = 1
	if a.Present() {
		alpha = a.Float64()
	}
	if !number.Present() {
		return s.In[0], s.In[1], alpha
	}
	r = array.Scalar(number.Float64())
	if number.IsInt() {
		r = array.Scalar(number.Int64())
	}
	// The number has the tensor's element type, f32 with a half-precision one.
	d := number.Promote(s.In[0].DType())
	if v, ok := s.Attrs.(DivAttrs); ok && v.RoundingMode == "" && !d.IsFloat() || d.IsFloat() && d.Size() == 2 && !compared {
		d = array.F32
	}
	r = array.Cast(r, d)
	if reverse {
		return r, s.In[0], alpha
	}
	return s.In[0], r, alpha
}

// floorDiv is Python's // with PyTorch's values for infinite operands.
func floorDiv(x, y float64) float64 {
	switch {
	case y == 0:
		return x / y
	case math.IsInf(x, 0) || math.IsNaN(x):
		return math.NaN()
	case math.IsInf(y, 0) && x != 0 && (x < 0) != (y < 0):
		return -1
	}
	return math.Floor(x / y)
}

// pymod is Python's %.
func pymod(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

func nanMax(x, y float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN()
	}
	return math.Max(x, y)
}

func nanMin(x, y float64) float64 { return -nanMax(-x, -y) }

// quotients of integers, 0 when dividing by 0.
func intQuotient(floor bool, x, y int64) int64 {
	if y == 0 {
		return 0
	}
	q := x / y
	if floor && x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func intPow(x, y int64) int64 {
	if y < 0 {
		return map[int64]int64{1: 1, -1: 1 - 2*(-y&1)}[x]
	}
	p := int64(1)
	for range y {
		p *= x
	}
	return p
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// arithmeticRefs are the meanings of the operators on float64 and int64; the
// integer one is nil where integers are promoted to floats.
var arithmeticRefs = []struct {
	o    *op.Op
	mode string
	f    func(x, y, alpha float64) float64
	i    func(x, y, alpha int64) int64
}{
	{Add, "", func(x, y, a float64) float64 { return x + a*y }, func(x, y, a int64) int64 { return x + a*y }},
	{Sub, "", func(x, y, a float64) float64 { return x - a*y }, func(x, y, a int64) int64 { return x - a*y }},
	{Mul, "", func(x, y, _ float64) float64 { return x * y }, func(x, y, _ int64) int64 { return x * y }},
	{Div, "", func(x, y, _ float64) float64 { return x / y }, nil},
	{Div, "trunc", func(x, y, _ float64) float64 { return math.Trunc(x / y) }, func(x, y, _ int64) int64 { return intQuotient(false, x, y) }},
	{Div, "floor", func(x, y, _ float64) float64 { return floorDiv(x, y) }, func(x, y, _ int64) int64 { return intQuotient(true, x, y) }},
	{FloorDivide, "", func(x, y, _ float64) float64 { return floorDiv(x, y) }, func(x, y, _ int64) int64 { return intQuotient(true, x, y) }},
	{Remainder, "", func(x, y, _ float64) float64 { return pymod(x, y) }, func(x, y, _ int64) int64 {
		return b2i(y != 0) * (x - y*intQuotient(true, x, y))
	}},
	{Fmod, "", func(x, y, _ float64) float64 { return math.Mod(x, y) }, func(x, y, _ int64) int64 {
		return b2i(y != 0) * (x - y*intQuotient(false, x, y))
	}},
	{Pow, "", func(x, y, _ float64) float64 { return math.Pow(x, y) }, func(x, y, _ int64) int64 { return intPow(x, y) }},
	{Maximum, "", func(x, y, _ float64) float64 { return nanMax(x, y) }, func(x, y, _ int64) int64 { return max(x, y) }},
	{Minimum, "", func(x, y, _ float64) float64 { return nanMin(x, y) }, func(x, y, _ int64) int64 { return min(x, y) }},
	{BitwiseAnd, "", nil, func(x, y, _ int64) int64 { return x & y }},
	{BitwiseOr, "", nil, func(x, y, _ int64) int64 { return x | y }},
	{BitwiseXor, "", nil, func(x, y, _ int64) int64 { return x ^ y }},
	{BitwiseLeftShift, "", nil, func(x, y, _ int64) int64 { return x << uint64(y) }},
	{BitwiseRightShift, "", nil, func(x, y, _ int64) int64 { return x >> uint64(y) }},
	{Eq, "", func(x, y, _ float64) float64 { return float64(b2i(x == y)) }, func(x, y, _ int64) int64 { return b2i(x == y) }},
	{Ne, "", func(x, y, _ float64) float64 { return float64(b2i(x != y)) }, func(x, y, _ int64) int64 { return b2i(x != y) }},
	{Lt, "", func(x, y, _ float64) float64 { return float64(b2i(x < y)) }, func(x, y, _ int64) int64 { return b2i(x < y) }},
	{Le, "", func(x, y, _ float64) float64 { return float64(b2i(x <= y)) }, func(x, y, _ int64) int64 { return b2i(x <= y) }},
	{Gt, "", func(x, y, _ float64) float64 { return float64(b2i(x > y)) }, func(x, y, _ int64) int64 { return b2i(x > y) }},
	{Ge, "", func(x, y, _ float64) float64 { return float64(b2i(x >= y)) }, func(x, y, _ int64) int64 { return b2i(x >= y) }},
	{LogicalAnd, "", func(x, y, _ float64) float64 { return float64(b2i(x != 0 && y != 0)) }, func(x, y, _ int64) int64 { return b2i(x != 0 && y != 0) }},
	{LogicalOr, "", func(x, y, _ float64) float64 { return float64(b2i(x != 0 || y != 0)) }, func(x, y, _ int64) int64 { return b2i(x != 0 || y != 0) }},
	{LogicalXor, "", func(x, y, _ float64) float64 { return float64(b2i((x != 0) != (y != 0))) }, func(x, y, _ int64) int64 { return b2i((x != 0) != (y != 0)) }},
}

func TestBinaryValues(t *testing.T) {
	for _, ref := range arithmeticRefs {
		for n, s := range ref.o.Samples() {
			if d, ok := s.Attrs.(DivAttrs); ok && d.RoundingMode != ref.mode {
				continue
			}
			name := fmt.Sprintf("%s%s/%d %s", ref.o.Name, ref.mode, n, s.Name)
			out, err := ref.o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err, name)
			l, r, alpha := twoArrays(s, out[0].DType() == array.Bool)
			ints := !l.DType().IsFloat() && !r.DType().IsFloat() && ref.i != nil
			l, r = spread(l, out[0]), spread(r, out[0])
			for i := range out[0].Len() {
				if ints {
					want := ref.i(array.Int64At(l, i), array.Int64At(r, i), int64(alpha))
					want = array.Int64At(array.Cast(array.Scalar(want), out[0].DType()), 0)
					require.Equal(t, want, array.Int64At(out[0], i), "%s: element %d", name, i)
					continue
				}
				x, y := array.Float64At(l, i), array.Float64At(r, i)
				want := ref.f(x, y, alpha)
				if out[0].DType() == array.Bool {
					require.Equal(t, want, array.Float64At(out[0], i), "%s: %v and %v", name, x, y)
					continue
				}
				requireNear(t, want, out[0], i, fmt.Sprintf("%s: %v and %v", name, x, y))
			}
		}
	}
}

// eval runs one operator and requires success.
func eval(t *testing.T, o *op.Op, attrs any, in ...*array.Array) *array.Array {
	t.Helper()
	out, err := o.Eval(&kernel.Workspace{}, attrs, in)
	require.NoError(t, err)
	return out[0]
}

func TestPromotion(t *testing.T) {
	f32, f16, i64, i32, u8, i8, yes := array.New(array.F32, 2), array.New(array.F16, 2), array.New(array.I64, 2),
		array.New(array.I32, 2), array.New(array.U8, 2), array.New(array.I8, 2), array.New(array.Bool, 2)
	for _, c := range []struct {
		o    *op.Op
		a    any
		in   []*array.Array
		want array.DType
	}{
		{Add, AddAttrs{}, []*array.Array{f16, f32}, array.F32},
		{Add, AddAttrs{}, []*array.Array{i64, f16}, array.F16},
		{Add, AddAttrs{}, []*array.Array{u8, i8}, array.I16},
		{Add, AddAttrs{}, []*array.Array{f16, array.New(array.F32)}, array.F16},
		{Add, AddAttrs{}, []*array.Array{i64, array.New(array.F32)}, array.F32},
		{Add, AddAttrs{Other: op.Float(1)}, []*array.Array{f16}, array.F16},
		{Add, AddAttrs{Other: op.Float(1)}, []*array.Array{i32}, array.F32},
		{Add, AddAttrs{Other: op.Int(1)}, []*array.Array{u8}, array.U8},
		{Add, AddAttrs{Other: op.Int(1)}, []*array.Array{yes}, array.I64},
		{Add, AddAttrs{}, []*array.Array{yes, yes}, array.Bool},
		{Div, DivAttrs{}, []*array.Array{i64, i64}, array.F32},
		{Div, DivAttrs{}, []*array.Array{yes, yes}, array.F32},
		{Div, DivAttrs{RoundingMode: "floor"}, []*array.Array{i32, i64}, array.I64},
		{Eq, BinaryAttrs{}, []*array.Array{i32, f16}, array.Bool},
		{Sqrt, op.None{}, []*array.Array{i64}, array.F32},
		{Clamp, ClampAttrs{Min: op.Float(0.5)}, []*array.Array{i64}, array.F32},
		{Clamp, ClampAttrs{Max: op.Int(1)}, []*array.Array{yes}, array.I64},
		{Where, WhereAttrs{}, []*array.Array{yes, i64, f32}, array.F32},
		{Where, WhereAttrs{Other: op.Float(1)}, []*array.Array{yes, i64}, array.F32},
		{MaskedFill, MaskedFillAttrs{op.Float(2)}, []*array.Array{i64, yes}, array.I64},
	} {
		require.Equal(t, c.want, eval(t, c.o, c.a, c.in...).DType(), "%s %v", c.o.Name, c.a)
	}
}

func TestArithmeticCorners(t *testing.T) {
	require.Equal(t, []int64{math.MinInt64}, array.Data[int64](eval(t, Neg, op.None{}, array.FromSlice([]int64{math.MinInt64}))))
	require.Equal(t, []uint8{44}, array.Data[uint8](eval(t, Add, AddAttrs{Other: op.Int(100)}, array.FromSlice([]uint8{200}))))
	require.Equal(t, []bool{false, true, true, true},
		array.Data[bool](eval(t, Add, AddAttrs{}, array.FromSlice([]bool{false, true, false, true}), array.FromSlice([]bool{false, false, true, true}))))
	// 2^53+1 is not a float64: integers never go through floats.
	big := array.FromSlice([]int64{1<<53 + 1})
	require.Equal(t, []int64{1<<53 + 2}, array.Data[int64](eval(t, Add, AddAttrs{Other: op.Int(1)}, big)))
	require.Equal(t, []int64{-1}, array.Data[int64](eval(t, Remainder, ReversibleAttrs{Other: op.Int(-3)}, array.FromSlice([]int64{5}))))
	require.Equal(t, []int64{2}, array.Data[int64](eval(t, Fmod, ReversibleAttrs{Other: op.Int(-3)}, array.FromSlice([]int64{5}))))
	negZero := eval(t, Neg, op.None{}, array.FromSlice([]float32{0}))
	require.True(t, math.Signbit(float64(array.Data[float32](negZero)[0])))
	// A number is not rounded to f16 on its own: 1000*0.1 is 100, not 1000*0.09998.
	thousand := array.Cast(array.FromSlice([]float32{1000}), array.F16)
	require.Equal(t, 100.0, array.Float64At(eval(t, Mul, BinaryAttrs{Other: op.Float(0.1)}, thousand), 0))
}

func TestMissingSecondOperand(t *testing.T) {
	x := array.New(array.F32, 2)
	for _, in := range [][]*array.Array{{x}, {x, nil}} {
		_, err := Add.Eval(&kernel.Workspace{}, AddAttrs{}, in)
		require.ErrorIs(t, err, op.OperandCount)
	}
	var e *diag.Error
	_, err := Mul.Type(nil, BinaryAttrs{Other: op.Int(2)}, []shape.Type{shape.TypeOf(x), shape.TypeOf(x)})
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Hint)
}
