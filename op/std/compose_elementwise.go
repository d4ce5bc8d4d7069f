package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// requireFloat refuses an operand whose element type is known and not a float.
func requireFloat(name string, t shape.Type) error {
	if d := t.DType(); d != array.Invalid && !d.IsFloat() {
		return diag.New(op.DTypeMismatch, name+" has element type "+d.String()+", expected a floating-point one").
			WithHint("cast the operand first")
	}
	return nil
}

// Prelu has one slope, or one for each channel (dimension 1).
var Prelu = op.Define("prelu", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
		{Kind: op.Refuses, Text: "a weight of several dimensions", When: func(_ op.None, in []*array.Array) bool { return in[1].Rank() > 1 }},
	},
	Doc: "prelu is x where x > 0, else weight * x, with one weight or one for each channel.",
	Ref: "He, Zhang, Ren, Sun: Delving deep into rectifiers, arXiv:1502.01852", In: op.Args("x", "weight"), Class: op.Elementwise,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		x, w := in[0], in[1]
		if err := requireFloat("x", x); err != nil {
			return shape.Type{}, err
		}
		if d := w.DType(); d != array.Invalid && x.DType() != array.Invalid && d != x.DType() {
			return shape.Type{}, diag.New(op.DTypeMismatch, "weight has element type "+d.String()+", expected "+x.DType().String()+" as x")
		}
		if w.Ranked() && w.Rank() > 1 {
			return shape.Type{}, diag.New(op.RankMismatch, "weight is "+w.String()+", expected at most 1 dimension")
		}
		if !x.Ranked() || w.Rank() < 1 || w.Dim(0).Is(1) {
			return x, nil
		}
		channels := shape.Const(1)
		if x.Rank() > 1 {
			channels = x.Dim(1)
		}
		_, err := c.Equal(w.Dim(0), channels, op.SizeMismatch, func() string {
			return "weight has " + w.Dim(0).String() + " elements, expected 1 or " + channels.String() + " for the channels of x"
		})
		return x, err
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		x, w := in[0], in[1]
		if x.Type().Rank() == 0 && w.Type().Rank() == 1 {
			w = b.Call(Reshape, ReshapeAttrs{}, w) // the result has no dimensions either
		}
		if n, wt := x.Type().Rank(), w.Type(); n > 2 && wt.Rank() == 1 && !wt.Dim(0).Is(1) {
			size := []shape.Dim{shape.Const(-1)}
			for range n - 2 {
				size = append(size, shape.Const(1))
			}
			w = b.Call(Reshape, ReshapeAttrs{Shape: shape.Of(size...)}, w)
		}
		positive := b.Call(Gt, BinaryAttrs{Other: op.Int(0)}, x, nil)
		return b.Call(Where, WhereAttrs{}, positive, x, b.Call(Mul, BinaryAttrs{}, x, w))
	},
	Grad:    preluGrad,
	Samples: preluSamples,
	Bad:     preluBad,
})

// Glu splits a dimension in halves a and b; PyTorch's default of Dim is -1.
//
//gofx:torch F.glu(x, dim)
var Glu = op.Define("glu", op.Spec[DimAttrs]{
	Doc: "glu is a * sigmoid(b), where a and b are the halves of x along dim.",
	Ref: "Dauphin, Fan, Auli, Grangier: arXiv:1612.08083", In: op.Args("x"), Class: op.Elementwise,
	Infer: func(c *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
		x := in[0]
		if err := requireFloat("x", x); err != nil || !x.Ranked() {
			return x, err
		}
		if x.Rank() == 0 {
			return shape.Type{}, diag.New(op.RankMismatch, "x is "+x.String()+", expected 1 or more dimensions")
		}
		axis, err := op.Axis(a.Dim, x.Rank())
		if err != nil {
			return shape.Type{}, err
		}
		err = c.Multiple(x.Dim(axis), shape.Const(2), op.SizeMismatch, func() string {
			return "x has size " + x.Dim(axis).String() + " along axis " + strconv.Itoa(axis) + ", expected an even size"
		})
		return x.WithDims(x.Dims().With(axis, x.Dim(axis).FloorDivInt(2))), err
	},
	Decompose: func(b op.Builder, a DimAttrs, in []op.Value) op.Value {
		half := in[0].Type().Dim(a.Dim).FloorDivInt(2)
		part := func(start shape.Dim) op.Value {
			return b.Call(Narrow, NarrowAttrs{Dim: a.Dim, Start: start, Length: half}, in[0])
		}
		return b.Call(Mul, BinaryAttrs{}, part(shape.Const(0)), b.Call(Sigmoid, op.None{}, part(half)))
	},
	Samples: gluSamples,
	Bad:     gluBad,
})

// OneHotAttrs are the attributes of one_hot.
type OneHotAttrs struct {
	NumClasses shape.Dim `fx:",arg"`
}

// OneHot appends a dimension of classes. The number of classes must be given; an
// index outside [0, NumClasses) gives zeros only, where PyTorch fails.
//
//gofx:torch F.one_hot(int64(x), num_classes)
var OneHot = op.Define("one_hot", op.Spec[OneHotAttrs]{
	Differs: []op.Difference[OneHotAttrs]{
		extendsIndices[OneHotAttrs](0),
		{Kind: op.Extends, Text: "indices out of range, whose rows are zeros"},
		{Kind: op.Refuses, Text: "a num_classes of -1, which PyTorch finds out from the values", When: func(a OneHotAttrs, _ []*array.Array) bool { return a.NumClasses.Is(-1) }},
	},
	Doc: "one_hot is 1 at the class that x names and 0 at the others, along a new last dimension, as i64.", In: op.Args("x"),
	Infer: func(c *op.Infer, a OneHotAttrs, in []shape.Type) (shape.Type, error) {
		if d := in[0].DType(); d != array.Invalid && !d.IsInt() {
			return shape.Type{}, diag.New(op.DTypeMismatch, "x has element type "+d.String()+", expected an integer one")
		}
		if err := c.AtLeast(a.NumClasses, shape.Const(1), op.BadAttr, func() string {
			return "num_classes is " + a.NumClasses.String() + ", expected 1 or more"
		}); err != nil {
			return shape.Type{}, hinted(err, "the number of classes cannot follow from the data")
		}
		if !in[0].Ranked() {
			return shape.Unranked(array.I64), nil
		}
		return shape.TensorType(array.I64, in[0].Dims().Append(a.NumClasses)), nil
	},
	Decompose: func(b op.Builder, a OneHotAttrs, in []op.Value) op.Value {
		if n, ok := elementCount(in[0].Type()).Int(); ok && n == 0 { // however many classes
			return b.Call(Full, FullAttrs{Size: in[0].Type().Dims().Append(a.NumClasses), Value: op.Int(0), DType: array.I64})
		}
		x := b.Call(Unsqueeze, DimAttrs{Dim: -1}, in[0])
		classes := b.Call(Arange, ArangeAttrs{End: a.NumClasses})
		return b.Call(Cast, CastAttrs{DType: array.I64}, b.Call(Eq, BinaryAttrs{}, x, classes))
	},
	Samples: oneHotSamples,
	Bad:     oneHotBad,
})
