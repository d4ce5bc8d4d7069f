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
