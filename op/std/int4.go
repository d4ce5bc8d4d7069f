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
	if err := narrowOperands(x, bias); err != nil {
		return shape.Type{}, err
	}
	if err := int4Weight(a, in); err != nil {
		return shape.Type{}, err
	}
	n, k := w.Dim(0), x.Dim(-1)
	if err := wantVector(c, "bias", bias, n, "weight"); err != nil {
		return shape.Type{}, err
	}
	if err := int4Columns(c, "weight", w, n, k.AddInt(1).FloorDivInt(2)); err != nil {
		return shape.Type{}, err
	}
	if err := int4Groups(c, a, in, n, k); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(x.DType()), nil
	}
	return shape.TensorType(x.DType(), x.Dims().With(x.Rank()-1, n)), nil
}

// int4Weight checks the group, and the types of the weight, its scales and zero points,
// in[1] and on.
func int4Weight(a Int4LinearAttrs, in []shape.Type) error {
	if a.Group < 32 || a.Group%32 != 0 || a.Group > maxGroup {
		return badAttr("group", strconv.Itoa(a.Group), "a multiple of 32 up to "+strconv.Itoa(maxGroup))
	}
	for i, want := range []array.DType{array.U8, array.F32, array.U8} {
		name := []string{"weight", "scale", "zero"}[i]
		if err := wantType(name, operandAt(in, 1+i), want); err != nil {
			return err
		}
		if err := wantRank(name, operandAt(in, 1+i), 2, 2); err != nil {
			return err
		}
	}
	return nil
}

// int4Groups checks that scales and zero points are those of a weight [n, k].
func int4Groups(c *op.Infer, a Int4LinearAttrs, in []shape.Type, n, k shape.Dim) error {
	groups := k.AddInt(a.Group - 1).FloorDivInt(a.Group)
	for i, name := range []string{"scale", "zero"} {
		if err := int4Columns(c, name, operandAt(in, 2+i), n, groups); err != nil {
			return err
		}
	}
	return nil
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
	x := in[0]
	return narrowLinear(b, x, int4Floats(b, a.Group, x.Type().Dim(-1), in[1], in[2], valueAt(in, 3)), valueAt(in, 4))
}

// int4Floats is what a weight of 4 bits with k columns is in floats.
func int4Floats(b op.Builder, group int, k shape.Dim, w, scale, zero op.Value) op.Value {
	columns := func(v op.Value, d shape.Dim) op.Value {
		return b.Call(Slice, SliceAttrs{Dim: 1, Stop: d}, v)
	}
	halves := []op.Value{
		b.Call(Unsqueeze, DimAttrs{-1}, b.Call(BitwiseAnd, nil, w, number0(b, 15, array.U8))),
		b.Call(Unsqueeze, DimAttrs{-1}, b.Call(BitwiseRightShift, nil, w, number0(b, 4, array.U8))),
	}
	q := b.Call(Flatten, FlattenAttrs{StartDim: 1, EndDim: 2}, b.Call(Cat, DimAttrs{-1}, halves...))
	each := func(v op.Value) op.Value {
		return columns(b.Call(RepeatInterleave, RepeatInterleaveAttrs{Repeats: group, Dim: 1}, v), k)
	}
	less := number0(b, 8, array.F32)
	if zero != nil {
		less = each(b.Call(Cast, CastAttrs{DType: array.F32}, zero))
	}
	weight := b.Call(Sub, nil, columns(b.Call(Cast, CastAttrs{DType: array.F32}, q), k), less)
	return b.Call(Mul, nil, weight, each(scale))
}

// Int4Embedding takes rows of a weight of 4 bits.
//
//gofx:torch int4_embedding(x, weight, scale, zero, group)
var Int4Embedding = op.Define("int4_embedding", op.Spec[Int4LinearAttrs]{
	Doc: "int4_embedding is embedding(x, (weight - zero)·scale) as f32 for weights of 4 bits as int4_linear has them, u8 [V, E/2] with scale and zero (8 without it) [V, ceil(E/group)]; " +
		"the rows that are taken are unpacked.",
	In: op.Args("x", "weight", "scale", "zero?"), Quant: op.QuantNever,
	Infer: inferInt4Embedding,
	Kernel: func(a Int4LinearAttrs, _ []shape.Type) kernel.Step {
		return &kernel.Int4Embedding{Group: a.Group}
	},
	Reference: func(b op.Builder, a Int4LinearAttrs, in []op.Value) op.Value {
		return b.Call(Embedding, nil, in[0], int4Floats(b, a.Group, in[1].Type().Dim(1).MulInt(2), in[1], in[2], valueAt(in, 3)))
	},
	Samples: int4EmbeddingSamples, Bad: int4EmbeddingBad,
})

func inferInt4Embedding(c *op.Infer, a Int4LinearAttrs, in []shape.Type) (shape.Type, error) {
	x, w := in[0], in[1]
	if err := wantIndices("x", x); err != nil {
		return shape.Type{}, err
	}
	if err := int4Weight(a, in); err != nil {
		return shape.Type{}, err
	}
	width := w.Dim(1).MulInt(2)
	if err := int4Groups(c, a, in, w.Dim(0), width); err != nil {
		return shape.Type{}, err
	}
	return typeOf(array.F32, x.Ranked(), append(x.Dims().Slice(), width)...), nil
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
