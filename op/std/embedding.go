package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// EmbeddingBagAttrs are the attributes of embedding_bag. An empty Mode is
// "mean". IncludeLastOffset says that offsets ends with the number of indices.
type EmbeddingBagAttrs struct {
	Mode              string `fx:",enum=sum|mean|max"`
	IncludeLastOffset bool
}

// Embedding is torch.nn.functional.embedding.
//
//gofx:torch F.embedding(x, weight)
var Embedding = op.Define("embedding", op.Spec[op.None]{
	Doc: "embedding takes the rows of weight [V,E] that the integers of x name; an index out of range is an error when it is computed.",
	In:  op.Args("x", "weight"), Class: op.Movement, Quant: op.QuantWeighted, Narrow: true,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		x, w := in[0], in[1]
		if err := wantIndices("x", x); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank("weight", w, 2, 2); err != nil {
			return shape.Type{}, err
		}
		return typeOf(w.DType(), x.Ranked(), append(x.Dims().Slice(), w.Dim(1))...), nil
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.Embedding{} },
	Grad:    embeddingGrad,
	Samples: embeddingSamples,
	Bad:     embeddingBad,
})

// EmbeddingBag is torch.nn.functional.embedding_bag.
//
//gofx:torch F.embedding_bag(x, weight, offsets, mode=mode or "mean", include_last_offset=include_last_offset, per_sample_weights=per_sample_weights)
var EmbeddingBag = op.Define("embedding_bag", op.Spec[EmbeddingBagAttrs]{
	Differs: []op.Difference[EmbeddingBagAttrs]{
		{Kind: op.GradAlters, Text: "equal greatest elements of a bag have equal shares in mode max; in PyTorch the first has all", When: func(a EmbeddingBagAttrs, _ []*array.Array) bool { return a.Mode == "max" }},
		{Kind: op.Alters, Text: "NaN wins in mode max, where PyTorch keeps what was greatest before it", When: func(a EmbeddingBagAttrs, in []*array.Array) bool {
			return a.Mode == "max" && huge(in[1])
		}},
		{Kind: op.Alters, Text: "include_last_offset means nothing for a matrix x, where PyTorch drops the last bag", When: func(a EmbeddingBagAttrs, in []*array.Array) bool { return a.IncludeLastOffset && in[0].Rank() == 2 }},
		{Kind: op.Extends, Text: "include_last_offset for a matrix x without rows", When: func(a EmbeddingBagAttrs, in []*array.Array) bool {
			return a.IncludeLastOffset && in[0].Rank() == 2 && in[0].Dim(0) == 0
		}},
		extendsEmpty[EmbeddingBagAttrs](),
		refusesMixed[EmbeddingBagAttrs](),
		{Kind: op.Refuses, Text: "indices out of range that belong to no bag", When: func(_ EmbeddingBagAttrs, in []*array.Array) bool { return in[0].Rank() == 1 }},
	},
	Doc: "embedding_bag reduces bags of rows of weight [V,E] that x names: each row of a matrix x, or the ranges of a vector x that begin at offsets.",
	In:  op.Args("x", "weight", "offsets?", "per_sample_weights?"), Class: op.Reduction, Quant: op.QuantWeighted,
	Infer: inferEmbeddingBag,
	Kernel: func(a EmbeddingBagAttrs, _ []shape.Type) kernel.Step {
		if a.Mode == "" {
			a.Mode = "mean"
		}
		return &kernel.EmbeddingBag{Mode: a.Mode}
	},
	Flops: func(_ EmbeddingBagAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		return elementCount(in[0]).Mul(in[1].Dim(1))
	},
	Samples: embeddingBagSamples,
	Bad:     embeddingBagBad,
})

// wantIndices requires i32 or i64.
func wantIndices(name string, t shape.Type) error {
	switch t.DType() {
	case array.Invalid, array.I32, array.I64:
		return nil
	}
	return diag.New(op.DTypeMismatch, name+" has element type "+t.DType().String()+", expected i32 or i64").WithHint("cast it first")
}

func inferEmbeddingBag(c *op.Infer, a EmbeddingBagAttrs, in []shape.Type) (shape.Type, error) {
	x, w, offsets, scale := in[0], in[1], operandAt(in, 2), operandAt(in, 3)
	if err := checkEmbeddingBag(a, x, w, offsets); err != nil {
		return shape.Type{}, err
	}
	if scale.Kind() == shape.Tensor {
		if a.Mode != "sum" {
			return shape.Type{}, badAttr("mode", strconv.Quote(a.Mode), "sum with per_sample_weights")
		}
		if s, d := scale.DType(), w.DType(); s != d && s != array.Invalid && d != array.Invalid {
			return shape.Type{}, diag.New(op.DTypeMismatch, "per_sample_weights has element type "+s.String()+", expected that of weight, "+d.String())
		}
		if err := sameDims(c, "per_sample_weights", scale, "x", x); err != nil {
			return shape.Type{}, err
		}
	}
	bags := shape.Unknown
	switch {
	case x.Rank() == 2 && offsets.Kind() == shape.Tensor:
		return shape.Type{}, diag.New(op.OperandCount, "x "+x.String()+" and offsets are both given, expected offsets only for a vector x")
	case x.Rank() == 2:
		bags = x.Dim(0)
	case x.Rank() == 1 && a.IncludeLastOffset:
		bags = offsets.Dim(0).AddInt(-1)
	case x.Rank() == 1:
		bags = offsets.Dim(0)
	}
	if err := c.AtLeast(bags, shape.Const(0), op.SizeMismatch, func() string {
		return "offsets has 0 elements, expected at least 1 with include_last_offset"
	}); err != nil {
		return shape.Type{}, err
	}
	return shape.TensorType(w.DType(), shape.Of(bags, w.Dim(1))), nil
}

func checkEmbeddingBag(a EmbeddingBagAttrs, x, w, offsets shape.Type) error {
	switch a.Mode {
	case "", "sum", "mean", "max":
	default:
		return badAttr("mode", strconv.Quote(a.Mode), "sum, mean or max")
	}
	for i, name := range []string{"x", "offsets"} {
		if err := wantIndices(name, [...]shape.Type{x, offsets}[i]); err != nil {
			return err
		}
	}
	if d := w.DType(); d != array.Invalid && !d.IsFloat() {
		return notFloat("weight", d)
	}
	if err := wantRank("x", x, 1, 2); err != nil {
		return err
	}
	if err := wantRank("weight", w, 2, 2); err != nil {
		return err
	}
	return wantRank("offsets", offsets, 1, 1)
}

// sameDims requires two tensors of known rank to have equal dimensions.
func sameDims(c *op.Infer, name string, t shape.Type, of string, want shape.Type) error {
	if !t.Ranked() || !want.Ranked() {
		return nil
	}
	if err := wantRank(name, t, want.Rank(), want.Rank()); err != nil {
		return err
	}
	for i := range t.Rank() {
		if _, err := c.Equal(t.Dim(i), want.Dim(i), op.ShapeMismatch, func() string {
			return name + " has the shape " + t.Dims().String() + ", " + of + " has " + want.Dims().String()
		}); err != nil {
			return err
		}
	}
	return nil
}
