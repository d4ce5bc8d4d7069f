package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Int4LinearAttrs are the attributes of int4_linear: Group weights of a row, a
// multiple of 32, share a scale and a zero point.
type Int4LinearAttrs struct {
	Group int `fx:",arg"`
}

// maxGroup is the most weights that share a scale.
const maxGroup = 1 << 20

// Int4Linear is a linear layer with weights of 4 bits, ONNX Runtime's MatMulNBits.
//
//gofx:torch int4_linear(x, weight, scale, zero, bias, group)
var Int4Linear = op.Define("int4_linear", op.Spec[Int4LinearAttrs]{
	Doc: "int4_linear is linear(x, (weight - zero)·scale, bias) for weights of 4 bits, u8 [n, ceil(k/2)] of which each holds two, the even one in the lower half; " +
		"scale and zero (8 without it) are [n, ceil(k/group)].",
	In: op.Args("x", "weight", "scale", "zero?", "bias?"), Class: op.Contraction, Quant: op.QuantNever,
	Differs: []op.Difference[Int4LinearAttrs]{
		{Kind: op.Refuses, Text: "f64", When: func(_ Int4LinearAttrs, in []*array.Array) bool { return in[0].DType() == array.F64 }},
		{Kind: op.Alters, Text: "what weights less 8 and what zero points less 8 come to is summed apart: where these sums cancel, are not finite or overflow, the result is another",
			When: func(_ Int4LinearAttrs, in []*array.Array) bool { return wild(in[0]) || wild(in[2]) }},
	},
	Infer: inferInt4Linear,
	Kernel: func(a Int4LinearAttrs, _ []shape.Type) kernel.Step {
		return &kernel.Int4Linear{Group: a.Group}
	},
	Reference: int4Reference,
	Flops: func(_ Int4LinearAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[0].Dim(-1))
	},
	Samples: int4LinearSamples, Bad: int4LinearBad,
})

func inferInt4Linear(c *op.Infer, a Int4LinearAttrs, in []shape.Type) (shape.Type, error) {
	x, w, bias := in[0], in[1], operandAt(in, 4)
	if a.Group < 32 || a.Group%32 != 0 || a.Group > maxGroup {
		return shape.Type{}, badAttr("group", strconv.Itoa(a.Group), "a multiple of 32 up to "+strconv.Itoa(maxGroup))
	}
	if err := wantType("x", x, array.F32, array.F16, array.BF16); err != nil {
		return shape.Type{}, err
	}
	if _, err := sameFloat([]string{"x", "bias"}, []shape.Type{x, bias}); err != nil {
		return shape.Type{}, err
	}
	for i, want := range []array.DType{array.U8, array.F32, array.U8} {
		name := []string{"weight", "scale", "zero"}[i]
		if err := wantType(name, operandAt(in, 1+i), want); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank(name, operandAt(in, 1+i), 2, 2); err != nil {
			return shape.Type{}, err
		}
	}
	if err := wantRank("x", x, 1, anyRank); err != nil {
		return shape.Type{}, err
	}
	n, k := w.Dim(0), x.Dim(-1)
	if err := wantVector(c, "bias", bias, n, "weight"); err != nil {
		return shape.Type{}, err
	}
	if err := int4Columns(c, "weight", w, n, k.AddInt(1).FloorDivInt(2)); err != nil {
		return shape.Type{}, err
	}
	groups := k.AddInt(a.Group - 1).FloorDivInt(a.Group)
	for i, name := range []string{"scale", "zero"} {
		if err := int4Columns(c, name, operandAt(in, 2+i), n, groups); err != nil {
			return shape.Type{}, err
		}
	}
	if !x.Ranked() {
		return shape.Unranked(x.DType()), nil
	}
	return shape.TensorType(x.DType(), x.Dims().With(x.Rank()-1, n)), nil
}

// int4Columns requires a matrix [n, columns], where there is one.
func int4Columns(c *op.Infer, name string, t shape.Type, n, columns shape.Dim) error {
	if !t.Ranked() {
		return nil
	}
	want := shape.Of(n, columns)
	for i := range 2 {
		if _, err := c.Equal(t.Dim(i), want.At(i), op.SizeMismatch, func() string {
			return name + " is " + t.String() + ", expected sizes " + want.String() + " beside x and group"
		}); err != nil {
			return err
		}
	}
	return nil
}

// int4Reference unpacks the weight.
func int4Reference(b op.Builder, a Int4LinearAttrs, in []op.Value) op.Value {
	x, w := in[0], in[1]
	k := x.Type().Dim(-1)
	columns := func(v op.Value, d shape.Dim) op.Value {
		return b.Call(Slice, SliceAttrs{Dim: 1, Stop: d}, v)
	}
	halves := []op.Value{
		b.Call(Unsqueeze, DimAttrs{-1}, b.Call(BitwiseAnd, nil, w, number0(b, 15, array.U8))),
		b.Call(Unsqueeze, DimAttrs{-1}, b.Call(BitwiseRightShift, nil, w, number0(b, 4, array.U8))),
	}
	q := b.Call(Flatten, FlattenAttrs{StartDim: 1, EndDim: 2}, b.Call(Cat, DimAttrs{-1}, halves...))
	each := func(v op.Value) op.Value {
		return columns(b.Call(RepeatInterleave, RepeatInterleaveAttrs{Repeats: a.Group, Dim: 1}, v), k)
	}
	zero := number0(b, 8, array.F32)
	if z := valueAt(in, 3); z != nil {
		zero = each(b.Call(Cast, CastAttrs{array.F32}, z))
	}
	weight := b.Call(Sub, nil, columns(b.Call(Cast, CastAttrs{array.F32}, q), k), zero)
	weight = b.Call(Mul, nil, weight, each(in[2]))
	bias := valueAt(in, 4)
	if bias != nil {
		bias = b.Call(Cast, CastAttrs{array.F32}, bias)
	}
	y := b.Call(Linear, nil, b.Call(Cast, CastAttrs{array.F32}, x), weight, bias)
	return b.Call(Cast, CastAttrs{x.Type().DType()}, y)
}

// wild reports whether an element is beyond what activations and scales are.
func wild(a *array.Array) bool {
	for i := range a.Len() {
		if !(math.Abs(array.Float64At(a, i)) < 100) {
			return true
		}
	}
	return false
}
