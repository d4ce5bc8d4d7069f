package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestNumbersThatTypesHold: the table is what PyTorch's checked conversion of a
// Scalar says, "value cannot be converted to type ... without overflow".
func TestNumbersThatTypesHold(t *testing.T) {
	nan, inf := op.Float(math.NaN()), op.Float(math.Inf(-1))
	for _, c := range []struct {
		d     array.DType
		s     op.Scalar
		holds bool
	}{
		{array.I8, op.Int(127), true}, {array.I8, op.Int(128), false}, {array.I8, op.Int(-128), true}, {array.I8, op.Int(-129), false},
		{array.I8, op.Float(1.5), true}, {array.I8, op.Float(127.9), false}, {array.I8, op.Float(-128.5), false}, {array.I8, nan, false}, {array.I8, inf, false},
		{array.U8, op.Int(255), true}, {array.U8, op.Int(256), false}, {array.U8, op.Int(-255), true}, {array.U8, op.Int(-256), false},
		{array.U8, op.Float(-0.5), false}, {array.U8, op.Float(-1), false},
		{array.I32, op.Float(2147483647), true}, {array.I32, op.Float(2147483647.5), false}, {array.I32, op.Int(1 << 31), false},
		{array.I64, op.Int(math.MinInt64), true}, {array.I64, op.Float(-0x1p63), true}, {array.I64, op.Float(0x1p63), false},
		{array.U64, op.Int(-1), true}, {array.U64, op.Float(0x1p63), true}, {array.U64, op.Float(0x1p64), false},
		{array.F16, op.Int(65504), true}, {array.F16, op.Int(65505), false}, {array.F16, op.Float(65504.1), false}, {array.F16, inf, true}, {array.F16, nan, true},
		{array.BF16, op.Float(3.38e38), true}, {array.BF16, op.Float(3.4e38), false}, {array.F32, op.Float(math.MaxFloat32), true},
		{array.F32, op.Float(3.4028236e38), false}, {array.F32, op.Float(1e-300), true}, {array.F32, op.Int(math.MaxInt64), true},
		{array.F64, op.Float(math.MaxFloat64), true}, {array.Bool, op.Int(2), true}, {array.Bool, nan, true}, {array.I8, op.BoolScalar(true), true},
	} {
		require.Equal(t, c.holds, fits(c.d, c.s), "%s %s", c.d, c.s)
	}
}

// TestNumbersRefused: what a number is too great for shows in the operator's type
// rule, so that a trace stops at the call.
func TestNumbersRefused(t *testing.T) {
	of := func(d array.DType) shape.Type { return shape.TensorType(d, shape.Of(shape.Sym("N"))) }
	i8, u8, f16, mask := of(array.I8), of(array.U8), of(array.F16), of(array.Bool)
	n := op.Int(300)
	for _, c := range []struct {
		o     *op.Op
		attrs any
		in    []shape.Type
		text  string
	}{
		{Clamp, ClampAttrs{Min: n, Max: op.Int(500)}, []shape.Type{i8}, "min is 300, which i8 cannot hold"},
		{Clamp, ClampAttrs{Max: op.Float(1e6)}, []shape.Type{f16}, "max is 1e+06, which f16 cannot hold"},
		{Full, FullAttrs{shape.ConstDims(2), n, array.U8}, nil, "value is 300, which u8 cannot hold"},
		{FullLike, FullLikeAttrs{Value: n}, []shape.Type{u8}, "value is 300, which u8 cannot hold"},
		{FullLike, FullLikeAttrs{n, array.I8}, []shape.Type{f16}, "value is 300, which i8 cannot hold"},
		{MaskedFill, MaskedFillAttrs{op.Float(-1e9)}, []shape.Type{f16, mask}, "value is -1e+09, which f16 cannot hold"},
		{Where, WhereAttrs{n}, []shape.Type{mask, i8}, "other is 300, which i8 cannot hold"},
		{Pad, PadAttrs{Pad: shape.ConstDims(1, 1), Value: -1}, []shape.Type{u8}, "value is -1.0, which u8 cannot hold"},
		{Add, AddAttrs{Alpha: n}, []shape.Type{i8, i8}, "alpha is 300, which i8 cannot hold"},
		{Sub, SubAttrs{Alpha: op.Float(1e6)}, []shape.Type{f16, f16}, "alpha is 1e+06, which f16 cannot hold"},
		{Addcmul, AddcAttrs{n}, []shape.Type{i8, i8, i8}, "value is 300, which i8 cannot hold"},
		{Hardtanh, HardtanhAttrs{-200, 1}, []shape.Type{i8}, "min_val is -200.0, which i8 cannot hold"},
		{Threshold, ThresholdAttrs{1, 300}, []shape.Type{i8}, "value is 300.0, which i8 cannot hold"},
		{Pow, ReversibleAttrs{Other: n}, []shape.Type{i8}, "other is 300, which i8 cannot hold"},
		{Addmm, AddmmAttrs{Alpha: n}, []shape.Type{i8, shape.TensorType(array.I8, shape.ConstDims(2, 2)), shape.TensorType(array.I8, shape.ConstDims(2, 2))},
			"alpha is 300, which i8 cannot hold"},
		{FloorDivide, ReversibleAttrs{Other: op.Int(256)}, []shape.Type{i8}, "other is 256, which is 0 as i8"},
		{Remainder, ReversibleAttrs{Other: op.Int(0)}, []shape.Type{i8}, "other is 0, which is 0 as i8"},
	} {
		_, err := c.o.Type(nil, c.attrs, c.in)
		require.ErrorContains(t, err, c.text, c.o.Name)
		require.Equal(t, op.BadAttr, err.(*diag.Error).Code)
	}
}

// TestNumbersConverted: operands of arithmetic and comparisons keep their low bits
// or become infinite, as PyTorch has it.
func TestNumbersConverted(t *testing.T) {
	i8 := array.FromSlice([]int8{1, 44, -100})
	f16 := array.Cast(array.FromSlice([]float32{0.1, 1, float32(math.Inf(1))}), array.F16)
	for _, c := range []struct {
		o     *op.Op
		attrs any
		x     *array.Array
		want  []float64
	}{
		{Add, AddAttrs{Other: op.Int(300)}, i8, []float64{45, 88, -56}},
		{Eq, BinaryAttrs{op.Int(300)}, i8, []float64{0, 1, 0}},
		{Lt, BinaryAttrs{op.Int(300)}, i8, []float64{1, 0, 1}},
		{BitwiseOr, BinaryAttrs{op.Int(300)}, i8, []float64{45, 44, -68}},
		{FloorDivide, ReversibleAttrs{Other: op.Int(300), Reverse: true}, i8, []float64{44, 1, -1}},
		{Eq, BinaryAttrs{op.Float(0.1)}, f16, []float64{1, 0, 0}},
		{Eq, BinaryAttrs{op.Float(1e6)}, f16, []float64{0, 0, 1}},
		{NanToNum, NanToNumAttrs{Posinf: op.Float(1e6)}, f16, []float64{0.0999755859375, 1, math.Inf(1)}},
		{Clamp, ClampAttrs{Min: op.Int(-5)}, array.FromSlice([]uint8{1, 44, 255}), []float64{251, 251, 255}},
	} {
		out := eval(t, c.o, c.attrs, c.x)
		for i, want := range c.want {
			require.Equal(t, want, array.Float64At(out, i), "%s %v: element %d", c.o.Name, c.attrs, i)
		}
	}
}

// TestDivisionByZeroInTensors: 0, and what follows from it, on integers.
func TestDivisionByZeroInTensors(t *testing.T) {
	for _, d := range []array.DType{array.I8, array.U8, array.I32, array.U64, array.I64} {
		x, zero := array.Cast(array.FromSlice([]int64{7, 0}), d), array.New(d, 2)
		zeros := func(o *op.Op, attrs any, in ...*array.Array) {
			out := eval(t, o, attrs, in...)
			for i := range out.Len() {
				require.Zero(t, array.Float64At(out, i), "%s of %s", o.Name, d)
			}
		}
		for _, o := range []*op.Op{FloorDivide, Remainder, Fmod} {
			zeros(o, ReversibleAttrs{}, x, zero)
			zeros(o, ReversibleAttrs{Other: op.Int(3), Reverse: true}, zero)
		}
		zeros(Div, DivAttrs{RoundingMode: "trunc"}, x, zero)
		zeros(Div, DivAttrs{RoundingMode: "floor"}, x, zero)
	}
}
