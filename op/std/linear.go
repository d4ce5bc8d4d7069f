package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Linear is torch.nn.functional.linear.
//
//	%y = call_function[linear](%x, %weight, %bias) : f32[N,10]
var Linear = op.Define("linear", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
		refusesIntegers[op.None](),
		{Kind: op.Refuses, Text: "a weight that is a vector", When: func(_ op.None, in []*array.Array) bool { return in[1].Rank() == 1 }},
		{Kind: op.Refuses, Text: "a bias that is not a vector of all its elements, to which PyTorch stretches it", When: func(_ op.None, in []*array.Array) bool {
			return len(in) > 2 && in[2] != nil && (in[2].Rank() != 1 || in[2].Len() == 1)
		}},
	},
	Doc: "linear returns x @ weightᵀ + bias for a weight of shape [out,in].",
	In:  op.Args("x", "weight", "bias?"), Class: op.Contraction, Quant: op.QuantWeighted,
	Infer:  inferLinear,
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Linear{} },
	Grad:   linearGrad,
	Flops: func(_ op.None, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[1].Dim(1))
	},
	Samples: linearSamples,
	Bad:     linearBad,
})

func inferLinear(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
	d, err := sameFloat([]string{"x", "weight", "bias"}, in)
	if err != nil {
		return shape.Type{}, err
	}
	x, w := in[0], in[1]
	if err := wantRank("x", x, 1, anyRank); err != nil {
		return shape.Type{}, err
	}
	if err := wantRank("weight", w, 2, 2); err != nil {
		return shape.Type{}, err
	}
	if err := wantVector(c, "bias", operandAt(in, 2), w.Dim(0), "weight"); err != nil {
		return shape.Type{}, err
	}
	_, err = c.Equal(x.Dim(-1), w.Dim(1), op.SizeMismatch, func() string {
		return "x has " + x.Dim(-1).String() + " features, weight expects " + w.Dim(1).String()
	})
	if e, ok := err.(*diag.Error); ok && w.Dim(0).Equal(x.Dim(-1)) {
		err = e.WithHint("weight has the shape [out,in]; transpose it")
	}
	if err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(d), nil
	}
	return shape.TensorType(d, x.Dims().With(-1, w.Dim(0))), nil
}

func linearSamples(g *op.Gen) []op.Sample {
	call := func(name string, in ...*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: in}
	}
	f64 := func(a *array.Array) *array.Array { return array.Cast(a, array.F64) }
	f16 := func(a *array.Array) *array.Array { return array.Cast(a, array.F16) }
	return []op.Sample{
		call("with bias", g.Normal(3, 5), g.Normal(4, 5), g.Normal(4)),
		call("bias left out", g.Normal(3, 5), g.Normal(4, 5)),
		call("nil bias", g.Normal(3, 5), g.Normal(4, 5), nil),
		call("vector", g.Normal(5), g.Normal(4, 5), g.Normal(4)),
		call("leading dimensions", g.Normal(2, 3, 5), g.Normal(4, 5), g.Normal(4)),
		call("strided", g.Strided(g.Normal(2, 3, 5)), g.Strided(g.Normal(4, 5)), g.Normal(4)),
		call("empty batch", g.Normal(0, 5), g.Normal(4, 5), g.Normal(4)),
		call("no features", g.Normal(3, 0), g.Normal(4, 0), g.Normal(4)),
		call("wide", g.Normal(17, 33), g.Normal(65, 33), g.Normal(65)),
		call("f64", f64(g.Normal(3, 5)), f64(g.Normal(4, 5)), f64(g.Normal(4))),
		call("f16", f16(g.Uniform(-1, 1, 3, 5)), f16(g.Uniform(-1, 1, 4, 5)), f16(g.Normal(4))),
		call("special", array.Reshape(g.Special(), 3, 5), g.Uniform(0.5, 1, 2, 5), g.Normal(2)),
	}
}

func linearBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: in, Code: code}
	}
	return []op.BadSample{
		bad("features", op.SizeMismatch, g.Normal(3, 5), g.Normal(4, 6)),
		bad("transposed weight", op.SizeMismatch, g.Normal(3, 5), g.Normal(5, 4)),
		bad("bias size", op.SizeMismatch, g.Normal(3, 5), g.Normal(4, 5), g.Normal(3)),
		bad("bias rank", op.RankMismatch, g.Normal(3, 5), g.Normal(4, 5), g.Normal(1, 4)),
		bad("weight rank", op.RankMismatch, g.Normal(3, 5), g.Normal(5)),
		bad("scalar", op.RankMismatch, g.Normal(), g.Normal(4, 5)),
		bad("types", op.DTypeMismatch, g.Normal(3, 5), array.Cast(g.Normal(4, 5), array.F64)),
		bad("integers", op.DTypeMismatch, g.Int(5, 3, 5), g.Int(5, 4, 5)),
		bad("missing weight", op.OperandCount, g.Normal(3, 5)),
	}
}
