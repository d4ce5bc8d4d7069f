package std

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// QuantizeAttrs are the attributes of quantize. Axis is what a vector of scales goes
// along. DType is an integer type of 2 to 16 bits or a float of 8 or 4; without one it is
// that of zero, u8 without both. Unsaturated is that of CastAttrs.
type QuantizeAttrs struct {
	Axis        int
	DType       array.DType `fx:"dtype"`
	Unsaturated bool
}

// DequantizeAttrs are the attributes of dequantize; Axis is what a vector of scales
// goes along.
type DequantizeAttrs struct {
	Axis int
}

// ObserveAttrs are the attributes of observe. Averaging, up to 1, moves the extremes
// towards those of x by that part of the way; without it they are those of all.
type ObserveAttrs struct {
	Averaging float64
}

// quantTypes are the element types of quantised tensors; f8e8m0fnu is for scales only.
var quantTypes = []array.DType{array.U8, array.I8, array.U16, array.I16, array.F8E4M3FN, array.F8E4M3FNUZ, array.F8E5M2, array.F8E5M2FNUZ,
	array.F4E2M1FN, array.I4, array.U4, array.I2, array.U2}

// Quantize is ONNX's QuantizeLinear.
//
//	%q = call_function[quantize](%x, %scale, %zero) {axis=1} : u8[N,64]
//
//gofx:torch quantize(x, scale, zero, axis, dtype, unsaturated)
var Quantize = op.Define("quantize", op.Spec[QuantizeAttrs]{
	Doc: "quantize returns round(x/scale) + zero as an integer of 2 to 16 bits, computed in f32, halves rounded to even, saturated, NaN as the least value, or x/scale + zero as a float of 8 or 4 bits; scale, of x's type f32, f16 or bf16, and zero are one element, or one for each index of axis.",
	In:  op.Args("x", "scale", "zero?"), Quant: op.QuantNever, Narrow: true,
	Infer: func(c *op.Infer, a QuantizeAttrs, in []shape.Type) (shape.Type, error) {
		d, err := quantType(a.DType, operandAt(in, 2), array.U8, quantTypes...)
		if err != nil {
			return shape.Type{}, err
		}
		if a.Unsaturated && d != array.Invalid && (!d.IsNarrowFloat() || d.Bits() != 8) {
			return shape.Type{}, badAttr("unsaturated", "true", "a float of 8 bits as dtype, not "+d.String())
		}
		if err := wantType("x", in[0], array.F32, array.F16, array.BF16); err != nil {
			return shape.Type{}, err
		}
		if _, err := sameNumber([]string{"x", "scale"}, in[:2]); err != nil {
			return shape.Type{}, err
		}
		return typeOf(d, in[0].Ranked(), in[0].Dims().Slice()...), quantParams(c, "x", a.Axis, in)
	},
	Kernel: func(a QuantizeAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Axis, in[0].Rank())
		return &kernel.Quantize{Axis: axis, Unsaturated: a.Unsaturated}
	},
	Samples: quantizeSamples, Bad: quantizeBad,
})

// Dequantize is ONNX's DequantizeLinear.
//
//	%x = call_function[dequantize](%q, %scale, %zero) {axis=1} : f32[N,64]
//
//gofx:torch dequantize(q, scale, zero, axis)
var Dequantize = op.Define("dequantize", op.Spec[DequantizeAttrs]{
	Doc: "dequantize returns (q - zero)·scale of what quantize gives, or of i32, computed in f32, in the type of scale, f32, f16 or bf16; scale and zero are one element, or one for each index of axis.",
	In:  op.Args("q", "scale", "zero?"), Quant: op.QuantNever, NoFold: true, Narrow: true,
	Infer: func(c *op.Infer, a DequantizeAttrs, in []shape.Type) (shape.Type, error) {
		q := in[0]
		if err := wantType("q", q, append([]array.DType{array.I32}, quantTypes...)...); err != nil {
			return shape.Type{}, err
		}
		if _, err := sameNumber([]string{"q", "zero"}, []shape.Type{q, operandAt(in, 2)}); err != nil {
			return shape.Type{}, err
		}
		return typeOf(in[1].DType(), q.Ranked(), q.Dims().Slice()...), quantParams(c, "q", a.Axis, in)
	},
	Kernel: func(a DequantizeAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Axis, in[0].Rank())
		return &kernel.Dequantize{Axis: axis}
	},
	Samples: dequantizeSamples, Bad: dequantizeBad,
})

// DynamicQuantize is ONNX's DynamicQuantizeLinear.
//
//gofx:torch dynamic_quantize(x)
var DynamicQuantize = op.Define("dynamic_quantize", op.Spec[op.None]{
	Doc: "dynamic_quantize returns x as u8 with the scale, f32, and the zero point, u8, that cover 0 and what x holds; NaN is passed over.",
	In:  op.Args("x"), Results: []string{"q", "scale", "zero"}, Quant: op.QuantNever,
	NoGrad: "it rounds to integers, which change in steps only",
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		q := typeOf(array.U8, in[0].Ranked(), in[0].Dims().Slice()...)
		one := func(d array.DType) shape.Type { return typeOf(d, true) }
		return shape.TupleType(q, one(array.F32), one(array.U8)), wantType("x", in[0], array.F32)
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.DynamicQuantize{} },
	Samples: dynamicQuantizeSamples,
	Bad:     dynamicQuantizeBad,
})

// Observe keeps what is seen of values in several runs, for the ranges to quantise.
//
//	%next = call_function[observe](%x, %seen) : f64[2051]
//
//gofx:torch observe(x, seen, averaging)
var Observe = op.Define("observe", op.Spec[ObserveAttrs]{
	Doc: "observe returns seen with the elements of x taken in: f64 of the least and the greatest one (NaN wins; +Inf and -Inf have seen nothing) and, where it is longer, the limit and the counts of a histogram over [-limit, limit). The limit doubles as needed, from 2^-30, and what was counted moves.",
	In:  op.Args("x", "seen"), Quant: op.QuantNever, Class: op.Reduction,
	NoGrad: "it notes what calibration sees, and is no part of a model",
	Infer: func(c *op.Infer, a ObserveAttrs, in []shape.Type) (shape.Type, error) {
		if !(a.Averaging >= 0 && a.Averaging <= 1) {
			return shape.Type{}, badAttr("averaging", strconv.FormatFloat(a.Averaging, 'g', -1, 64), "a number from 0 to 1")
		}
		seen := in[1]
		if err := wantType("x", in[0], array.F32); err != nil {
			return shape.Type{}, err
		}
		if err := wantType("seen", seen, array.F64); err != nil {
			return shape.Type{}, err
		}
		if !seen.Ranked() {
			return typeOf(array.F64, true, shape.Unknown), nil
		}
		if seen.Rank() != 1 {
			return shape.Type{}, diag.New(op.RankMismatch, "seen "+seen.String()+" has "+strconv.Itoa(seen.Rank())+" dimensions, expected a vector")
		}
		n, known := seen.Dim(0).Int()
		if known && (n < 2 || n == 3) {
			return shape.Type{}, diag.New(op.SizeMismatch, "seen has "+strconv.Itoa(int(n))+" elements, expected the two extremes, or the extremes, a limit and counts")
		}
		return typeOf(array.F64, true, seen.Dim(0)), nil
	},
	Kernel:  func(a ObserveAttrs, _ []shape.Type) kernel.Step { return &kernel.Observe{Averaging: a.Averaging} },
	Samples: observeSamples, Bad: observeBad,
})

// wantType requires one of some element types of an operand whose type is known.
func wantType(name string, t shape.Type, types ...array.DType) error {
	d := t.DType()
	if t.Kind() != shape.Tensor || d == array.Invalid {
		return nil
	}
	if slices.Contains(types, d) {
		return nil
	}
	return diag.New(op.DTypeMismatch, name+" has element type "+d.String()+", expected "+oneOf(types))
}

// oneOf lists element types: "u8, i8 or i32".
func oneOf(types []array.DType) string {
	want := ""
	for i, w := range types {
		switch {
		case i == 0:
		case i == len(types)-1:
			want += " or "
		default:
			want += ", "
		}
		want += w.String()
	}
	return want
}

// quantType is the element type of quantised results, one of types: the one that is
// asked for, else that of their zero point, else other.
func quantType(asked array.DType, zero shape.Type, other array.DType, types ...array.DType) (array.DType, error) {
	if asked != array.Invalid && !slices.Contains(types, asked) {
		return asked, badAttr("dtype", asked.String(), oneOf(types))
	}
	if err := wantType("zero", zero, types...); err != nil {
		return asked, err
	}
	switch {
	case zero.Kind() != shape.Tensor && asked == array.Invalid:
		return other, nil
	case zero.Kind() != shape.Tensor || zero.DType() == array.Invalid:
		return asked, nil
	case asked != array.Invalid && asked != zero.DType():
		return asked, diag.New(op.DTypeMismatch, "zero has element type "+zero.DType().String()+", expected dtype, "+asked.String())
	}
	return zero.DType(), nil
}

// quantParams checks the scale and the zero point, operands 1 and 2, of operand 0.
func quantParams(c *op.Infer, name string, axis int, in []shape.Type) error {
	if err := wantType("scale", in[1], array.F32, array.F16, array.BF16); err != nil {
		return err
	}
	if in[0].Ranked() {
		if _, err := op.Axis(axis, in[0].Rank()); err != nil {
			return err
		}
	}
	for i, param := range []string{"scale", "zero"} {
		if err := perAxis(c, param, operandAt(in, 1+i), name, in[0], axis); err != nil {
			return err
		}
	}
	return nil
}

// perAxis requires an absent operand, one element, or one for each index of an axis.
func perAxis(c *op.Infer, name string, t shape.Type, of string, x shape.Type, axis int) error {
	n := shape.Unknown
	switch {
	case x.Ranked() && x.Rank() == 0:
		n = shape.Const(1)
	case x.Ranked():
		n = x.Dim(axis)
	}
	return oneOrEach(c, name, t, n, " as "+of+" has along its axis")
}

// oneOrEach requires an absent operand, one element, or n of them; of says what n is.
func oneOrEach(c *op.Infer, name string, t shape.Type, n shape.Dim, of string) error {
	if t.Kind() != shape.Tensor || !t.Ranked() || t.Rank() == 0 {
		return nil
	}
	if t.Rank() > 1 {
		return diag.New(op.RankMismatch, name+" "+t.String()+" has "+strconv.Itoa(t.Rank())+" dimensions, expected one element or a vector")
	}
	if t.Dim(0).Is(1) {
		return nil
	}
	_, err := c.Equal(t.Dim(0), n, op.SizeMismatch, func() string {
		msg := name + " has " + t.Dim(0).String() + " elements, expected one"
		if !n.Is(1) {
			msg += ", or " + n.String() + of
		}
		return msg
	})
	return err
}
