package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Int8Linear is a linear layer of floats with weights of 8 bits.
//
//gofx:torch int8_linear(x, weight, scale, zero, bias)
var Int8Linear = op.Define("int8_linear", op.Spec[op.None]{
	Doc: "int8_linear is linear(x, (weight - zero)·scale, bias) for x in floats and weights of 8 bits, u8 or i8 [n, k], with one scale and zero or one for each row.",
	In:  op.Args("x", "weight", "scale", "zero?", "bias?"), Class: op.Contraction, Quant: op.QuantNever,
	Differs: []op.Difference[op.None]{
		{Kind: op.Refuses, Text: "f64", When: func(_ op.None, in []*array.Array) bool { return in[0].DType() == array.F64 }},
		{Kind: op.Alters, Text: "products with weights and with zero points are summed apart, and scaled last: where these sums cancel, are not finite or overflow, the result is another",
			When: func(_ op.None, in []*array.Array) bool { return wild(in[0]) || wild(in[2]) || cancels(in) }},
	},
	Infer:  inferInt8Linear,
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Int8Linear{} },
	Reference: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return narrowLinear(b, in[0], quantAt(in, 1).real(b, 0), valueAt(in, 4))
	},
	Flops: func(_ op.None, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[0].Dim(-1))
	},
	Samples: int8LinearSamples, Bad: int8LinearBad,
})

// cancels reports whether a result is far smaller than the sums that it is made of.
func cancels(in []*array.Array) bool {
	x, w, scale, bias := in[0], in[1], in[2], in[4]
	n, k := w.Dim(0), w.Dim(1)
	for i := range n * x.Len() / max(k, 1) {
		row, col := i/n, i%n
		sum, all := 0.0, 0.0
		add := func(v float64) { sum, all = sum+v, all+math.Abs(v) }
		for j := range k {
			add(array.Float64At(x, row*k+j) * array.Float64At(w, col*k+j) * array.Float64At(scale, col%scale.Len()))
		}
		if bias != nil {
			add(array.Float64At(bias, col))
		}
		if math.Abs(sum) < all/100 {
			return true
		}
	}
	return false
}

func inferInt8Linear(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
	x, w, bias := in[0], in[1], operandAt(in, 4)
	if err := narrowOperands(x, bias); err != nil {
		return shape.Type{}, err
	}
	if err := wantType("weight", w, array.U8, array.I8); err != nil {
		return shape.Type{}, err
	}
	if err := wantRank("weight", w, 2, 2); err != nil {
		return shape.Type{}, err
	}
	if err := wantType("scale", in[2], array.F32); err != nil {
		return shape.Type{}, err
	}
	if _, err := sameNumber([]string{"weight", "zero"}, []shape.Type{w, operandAt(in, 3)}); err != nil {
		return shape.Type{}, err
	}
	n := w.Dim(0)
	for i, name := range []string{"scale", "zero"} {
		if err := oneOrEach(c, name, operandAt(in, 2+i), n, " as weight has rows"); err != nil {
			return shape.Type{}, err
		}
	}
	if err := wantVector(c, "bias", bias, n, "weight"); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(x.DType()), nil
	}
	if w.Ranked() {
		if _, err := c.Equal(x.Dim(-1), w.Dim(1), op.SizeMismatch, func() string {
			return "x is " + x.String() + ", expected rows as long as those of weight, " + w.String()
		}); err != nil {
			return shape.Type{}, err
		}
	}
	return shape.TensorType(x.DType(), x.Dims().With(x.Rank()-1, n)), nil
}

// narrowOperands checks x and the bias of a linear layer with narrow weights.
func narrowOperands(x, bias shape.Type) error {
	if err := wantType("x", x, array.F32, array.F16, array.BF16); err != nil {
		return err
	}
	if _, err := sameFloat([]string{"x", "bias"}, []shape.Type{x, bias}); err != nil {
		return err
	}
	return wantRank("x", x, 1, anyRank)
}

// narrowLinear is a linear layer computed in f32, whatever the type of x.
func narrowLinear(b op.Builder, x, weight, bias op.Value) op.Value {
	if bias != nil {
		bias = b.Call(Cast, CastAttrs{DType: array.F32}, bias)
	}
	y := b.Call(Linear, nil, b.Call(Cast, CastAttrs{DType: array.F32}, x), weight, bias)
	return b.Call(Cast, CastAttrs{DType: x.Type().DType()}, y)
}
