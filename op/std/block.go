package std

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// BlockAttrs are the attributes of block_linear, block_linear_dynamic and block_embedding: Format is the layout of the
// weight, by its name in GGUF files.
type BlockAttrs struct {
	Format string `fx:",arg"`
}

// BlockLinear is a linear layer with a weight that lies as GGUF files have it.
//
//gofx:torch block_linear(x, weight, bias, format)
var BlockLinear = op.Define("block_linear", op.Spec[BlockAttrs]{
	Doc: "block_linear is linear(x, w, bias) for the floats w [n, k] that the blocks of weight, u8 [n, bytes of k elements], stand for by the format, one of GGUF's: " +
		"F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K.",
	In: op.Args("x", "weight", "bias?"), Class: op.Contraction, Quant: op.QuantNever,
	Differs: []op.Difference[BlockAttrs]{
		{Kind: op.Refuses, Text: "f64", When: func(_ BlockAttrs, in []*array.Array) bool { return in[0].DType() == array.F64 }},
		{Kind: op.Alters, Text: "minima of one row are summed apart: where these sums cancel, are not finite or overflow, the result is another",
			When: func(_ BlockAttrs, in []*array.Array) bool { return wild(in[0]) }},
	},
	Infer: inferBlockLinear,
	Kernel: func(a BlockAttrs, _ []shape.Type) kernel.Step {
		return &kernel.BlockLinear{Format: a.Format}
	},
	Reference: func(b op.Builder, a BlockAttrs, in []op.Value) op.Value {
		return narrowLinear(b, in[0], blockFloats(b, a, in[1]), valueAt(in, 2))
	},
	Flops: func(_ BlockAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[0].Dim(-1))
	},
	Samples: blockLinearSamples, Bad: blockLinearBad,
})

// BlockLinearDynamic is BlockLinear of activations that are rounded to 8 bits.
//
//gofx:torch block_linear_dynamic(x, weight, bias, format)
var BlockLinearDynamic = op.Define("block_linear_dynamic", op.Spec[BlockAttrs]{
	Doc: "block_linear_dynamic is block_linear(q * d, weight, bias, format) for x rounded to q of 8 bits, q = round(x * (1 / d)), halves to even, in each 32 elements of a row: " +
		"d is the greatest of their sizes, divided by 127; where it is below 2^-126, q is 0. Integers are summed, and the sums scaled. The format is one of those that are integers times scales: " +
		"Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K.",
	In: op.Args("x", "weight", "bias?"), Class: op.Contraction, Quant: op.QuantNever,
	NoGrad: "activations are rounded; block_linear, which does not round, has one",
	Differs: []op.Difference[BlockAttrs]{
		{Kind: op.Refuses, Text: "f64", When: func(_ BlockAttrs, in []*array.Array) bool { return in[0].DType() == array.F64 }},
		{Kind: op.Alters, Text: "sums of integers are scaled: where they overflow, the result is another",
			When: func(_ BlockAttrs, in []*array.Array) bool { return wild(in[0]) }},
	},
	Infer: func(c *op.Infer, a BlockAttrs, in []shape.Type) (shape.Type, error) {
		if f := blocks.Lookup(a.Format); f == nil || !f.HasIntegers() {
			return shape.Type{}, badAttr("format", diag.Quote(a.Format), "one of "+strings.Join(integerFormats(), ", "))
		}
		return inferBlockLinear(c, a, in)
	},
	Kernel: func(a BlockAttrs, _ []shape.Type) kernel.Step {
		return &kernel.BlockLinearDynamic{Format: a.Format}
	},
	Reference: func(b op.Builder, a BlockAttrs, in []op.Value) op.Value {
		y := narrowLinear(b, roundedBlocks(b, in[0]), blockFloats(b, a, in[1]), valueAt(in, 2))
		return b.Call(Cast, CastAttrs{DType: in[0].Type().DType()}, y)
	},
	Flops: func(_ BlockAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(out), in[0].Dim(-1))
	},
	Samples: blockDynamicSamples, Bad: blockDynamicBad,
})

// integerFormats are those of block_linear_dynamic.
func integerFormats() []string {
	return slices.DeleteFunc(blocks.Names(), func(name string) bool { return !blocks.Lookup(name).HasIntegers() })
}

// BlockEmbedding takes rows of such a weight.
//
//gofx:torch block_embedding(x, weight, format)
var BlockEmbedding = op.Define("block_embedding", op.Spec[BlockAttrs]{
	Doc: "block_embedding is embedding(x, w) as f32 for the floats w [V, E] that the blocks of weight stand for, as block_linear has them; the rows that are taken are unpacked.",
	In:  op.Args("x", "weight"), Quant: op.QuantNever,
	Infer: func(c *op.Infer, a BlockAttrs, in []shape.Type) (shape.Type, error) {
		if err := wantIndices("x", in[0]); err != nil {
			return shape.Type{}, err
		}
		width, err := blockColumns(c, a, in[1])
		if err != nil {
			return shape.Type{}, err
		}
		return typeOf(array.F32, in[0].Ranked(), append(in[0].Dims().Slice(), width)...), nil
	},
	Kernel: func(a BlockAttrs, _ []shape.Type) kernel.Step {
		return &kernel.BlockEmbedding{Format: a.Format}
	},
	Reference: func(b op.Builder, a BlockAttrs, in []op.Value) op.Value {
		return b.Call(Embedding, nil, in[0], blockFloats(b, a, in[1]))
	},
	Samples: blockEmbeddingSamples, Bad: blockEmbeddingBad,
})

func inferBlockLinear(c *op.Infer, a BlockAttrs, in []shape.Type) (shape.Type, error) {
	x, w, bias := in[0], in[1], operandAt(in, 2)
	if err := narrowOperands(x, bias); err != nil {
		return shape.Type{}, err
	}
	k, err := blockColumns(c, a, w)
	if err != nil {
		return shape.Type{}, err
	}
	n := w.Dim(0)
	if err := wantVector(c, "bias", bias, n, "weight"); err != nil {
		return shape.Type{}, err
	}
	if !x.Ranked() {
		return shape.Unranked(x.DType()), nil
	}
	if _, err := c.Equal(x.Dim(-1), k, op.SizeMismatch, func() string {
		return "x has " + x.Dim(-1).String() + " features, weight expects " + k.String()
	}); err != nil {
		return shape.Type{}, err
	}
	return shape.TensorType(x.DType(), x.Dims().With(x.Rank()-1, n)), nil
}

// blockColumns checks the format and the weight, and returns the elements of a row.
func blockColumns(c *op.Infer, a BlockAttrs, w shape.Type) (shape.Dim, error) {
	f := blocks.Lookup(a.Format)
	if f == nil {
		return shape.Unknown, badAttr("format", diag.Quote(a.Format), "one of "+strings.Join(blocks.Names(), ", "))
	}
	if err := wantType("weight", w, array.U8); err != nil {
		return shape.Unknown, err
	}
	if err := wantRank("weight", w, 2, 2); err != nil {
		return shape.Unknown, err
	}
	count := w.Dim(1).FloorDivInt(f.Bytes)
	if _, err := c.Equal(w.Dim(1), count.MulInt(f.Bytes), op.SizeMismatch, func() string {
		return "weight has rows of " + w.Dim(1).String() + " bytes, expected whole blocks of " + shape.Const(f.Bytes).String()
	}); err != nil {
		return shape.Unknown, err
	}
	return count.MulInt(f.Elements), nil
}
