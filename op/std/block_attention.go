package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// BlockQuantize rounds floats to blocks as GGUF files have them.
//
//gofx:torch block_quantize(x, format)
var BlockQuantize = op.Define("block_quantize", op.Spec[BlockAttrs]{
	Doc: "block_quantize is x [..., k] in blocks of the format, which is Q8_0, as u8 [..., bytes of k elements]: in each 32 elements of a row d is the greatest of their sizes, " +
		"divided by 127 and rounded to f16, q = round(x * (1 / d)), halves to even, 127 at most in size; where d is 0, q is 0. A block with an element that is not finite, or whose d is too large for f16, stands for NaN.",
	In: op.Args("x"), Quant: op.QuantNever,
	NoGrad: "elements are rounded",
	Differs: []op.Difference[BlockAttrs]{
		{Kind: op.Refuses, Text: "f64", When: func(_ BlockAttrs, in []*array.Array) bool { return in[0].DType() == array.F64 }},
	},
	Infer: func(c *op.Infer, a BlockAttrs, in []shape.Type) (shape.Type, error) {
		f, err := rowFormat(a.Format)
		if err != nil {
			return shape.Type{}, err
		}
		x := in[0]
		if err := narrowOperands(x, shape.Type{}); err != nil {
			return shape.Type{}, err
		}
		if !x.Ranked() {
			return shape.Unranked(array.U8), nil
		}
		count := x.Dim(-1).FloorDivInt(f.Elements)
		if _, err := c.Equal(x.Dim(-1), count.MulInt(f.Elements), op.SizeMismatch, func() string {
			return "x has rows of " + x.Dim(-1).String() + " elements, expected whole blocks of " + strconv.Itoa(f.Elements)
		}); err != nil {
			return shape.Type{}, err
		}
		return shape.TensorType(array.U8, x.Dims().With(-1, count.MulInt(f.Bytes))), nil
	},
	Kernel: func(a BlockAttrs, _ []shape.Type) kernel.Step {
		return &kernel.BlockQuantize{Format: a.Format}
	},
	Reference: quantizedBlocks,
	Samples:   blockQuantizeSamples, Bad: blockQuantizeBad,
})

// rowFormat is the layout that activations are rounded to.
func rowFormat(name string) (*blocks.Format, error) {
	if name != "Q8_0" {
		return nil, badAttr("format", diag.Quote(name), "Q8_0")
	}
	return blocks.Lookup(name), nil
}

// BlockAttentionAttrs are the attributes of block_attention: Format is the layout of keys and values, by its name in GGUF
// files, the others are those of scaled_dot_product_attention.
type BlockAttentionAttrs struct {
	Format    string `fx:",arg"`
	IsCausal  bool
	Scale     op.Scalar
	EnableGqa bool
}

func (a BlockAttentionAttrs) floats() AttentionAttrs {
	return AttentionAttrs{IsCausal: a.IsCausal, Scale: a.Scale, EnableGqa: a.EnableGqa}
}

// BlockAttention is attention over a cache of keys and values in 8 bits.
//
//gofx:torch block_attention(q, k, v, attn_mask, format, is_causal, scale, enable_gqa)
var BlockAttention = op.Define("block_attention", op.Spec[BlockAttentionAttrs]{
	Doc: "block_attention is scaled_dot_product_attention of q [...,L,E] and of the floats [...,S,E] and [...,S,V] that the blocks of k and v, u8 [...,S,bytes], stand for by the format, which is Q8_0. " +
		"q times the scale is rounded to 8 bits in each 32 elements, as block_linear_dynamic rounds x; products with keys are summed as integers, and the sums scaled.",
	In: op.Args("q", "k", "v", "attn_mask?"), Class: op.Contraction, Quant: op.QuantNever,
	NoGrad: "queries are rounded; scaled_dot_product_attention, which does not round, has one",
	Differs: []op.Difference[BlockAttentionAttrs]{
		{Kind: op.Refuses, Text: "f64", When: func(_ BlockAttentionAttrs, in []*array.Array) bool { return in[0].DType() == array.F64 }},
		{Kind: op.Alters, Text: "sums of integers are scaled, and rows of which the mask leaves nothing are 0, which shows where scales or queries are not finite or overflow",
			When: func(_ BlockAttentionAttrs, in []*array.Array) bool {
				return wild(in[0]) || wildBlocks(in[1]) || wildBlocks(in[2])
			}},
	},
	Infer: inferBlockAttention,
	Kernel: func(a BlockAttentionAttrs, _ []shape.Type) kernel.Step {
		k := &kernel.BlockAttention{Format: a.Format, IsCausal: a.IsCausal, EnableGqa: a.EnableGqa}
		if a.Scale.Present() {
			k.HasScale, k.Scale = true, a.Scale.Float64()
		}
		return k
	},
	Reference: blockAttention,
	Flops: func(_ BlockAttentionAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(in[0]), in[1].Dim(-2)).Add(twiceProduct(elementCount(out), in[1].Dim(-2)))
	},
	Samples: blockAttentionSamples, Bad: blockAttentionBad,
})

// inferBlockAttention is inferAttention over the floats that blocks stand for.
func inferBlockAttention(c *op.Infer, a BlockAttentionAttrs, in []shape.Type) (shape.Type, error) {
	f, err := rowFormat(a.Format)
	if err != nil {
		return shape.Type{}, err
	}
	if err := narrowOperands(in[0], shape.Type{}); err != nil {
		return shape.Type{}, err
	}
	wide := append([]shape.Type(nil), in...)
	for i, name := range []string{"k", "v"} {
		t := in[1+i]
		if err := wantType(name, t, array.U8); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank(name, t, 2, anyRank); err != nil {
			return shape.Type{}, err
		}
		if !t.Ranked() {
			wide[1+i] = shape.Unranked(in[0].DType())
			continue
		}
		count := t.Dim(-1).FloorDivInt(f.Bytes)
		if _, err := c.Equal(t.Dim(-1), count.MulInt(f.Bytes), op.SizeMismatch, func() string {
			return name + " has rows of " + t.Dim(-1).String() + " bytes, expected whole blocks of " + strconv.Itoa(f.Bytes)
		}); err != nil {
			return shape.Type{}, err
		}
		wide[1+i] = shape.TensorType(in[0].DType(), t.Dims().With(-1, count.MulInt(f.Elements)))
	}
	return inferAttention(c, a.floats(), wide)
}

// quantizedBlocks is the reference of block_quantize.
func quantizedBlocks(b op.Builder, a BlockAttrs, in []op.Value) op.Value {
	c := composer{b}
	f := blocks.Lookup(a.Format)
	x := b.Call(Cast, CastAttrs{DType: array.F32}, in[0])
	last := x.Type().Rank() - 1
	x = b.Call(Unflatten, UnflattenAttrs{Dim: last, Sizes: shape.Of(x.Type().Dim(-1).FloorDivInt(f.Elements), shape.Const(f.Elements))}, x)
	size := b.Call(Amax, ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, b.Call(Abs, nil, x))
	half := b.Call(Cast, CastAttrs{DType: array.F16}, b.Call(Div, DivAttrs{}, size, number0(b, 127, array.F32)))
	d := b.Call(Cast, CastAttrs{DType: array.F32}, half)
	zero := number0(b, 0, array.F32)
	some := b.Call(LogicalAnd, nil, b.Call(Gt, nil, d, zero), b.Call(Isfinite, nil, d))
	q := b.Call(Round, nil, b.Call(Mul, nil, x, b.Call(Reciprocal, nil, d)))
	q = b.Call(Where, WhereAttrs{}, some, b.Call(Minimum, nil, b.Call(Maximum, nil, q, number0(b, -127, array.F32)), number0(b, 127, array.F32)), zero)
	word := b.Call(Cast, CastAttrs{DType: array.I32}, b.Call(Bitcast, BitcastAttrs{array.U16}, half))
	u := &unpacking{b: b, f: f}
	parts := []op.Value{u.cast(u.and(word, 255), array.U8), u.cast(u.right(word, 8), array.U8), b.Call(Bitcast, BitcastAttrs{array.U8}, u.cast(q, array.I8))}
	return c.Call(Flatten, FlattenAttrs{StartDim: last, EndDim: last + 1}, b.Call(Cat, DimAttrs{-1}, parts...))
}

// blockAttention is the reference of block_attention.
func blockAttention(b op.Builder, a BlockAttentionAttrs, in []op.Value) op.Value {
	if a.EnableGqa { // refused here, where the operator is known
		knownFactor(in[0].Type(), in[1].Type())
		knownFactor(in[0].Type(), in[2].Type())
	}
	q := b.Call(Cast, CastAttrs{DType: array.F32}, in[0])
	args := []op.Value{roundedBlocks(b, scaledQuery(composer{b}, a.Scale, q)), rowFloats(b, a.Format, in[1]), rowFloats(b, a.Format, in[2])}
	if mask := valueAt(in, 3); mask != nil {
		if mask.Type().DType() != array.Bool {
			mask = b.Call(Cast, CastAttrs{DType: array.F32}, mask)
		}
		args = append(args, mask)
	}
	attrs := a.floats()
	attrs.Scale = op.Float(1)
	return b.Call(Cast, CastAttrs{DType: in[0].Type().DType()}, b.Call(ScaledDotProductAttention, attrs, args...))
}

// rowFloats is what rows of blocks [..., S, bytes] stand for: floats [..., S, k].
func rowFloats(b op.Builder, format string, v op.Value) op.Value {
	t := v.Type()
	lead := t.Dims().Sub(0, t.Rank()-1)
	if t.Rank() > 2 {
		v = b.Call(Flatten, FlattenAttrs{StartDim: 0, EndDim: t.Rank() - 2}, v)
	}
	v = blockFloats(b, BlockAttrs{format}, v)
	if t.Rank() > 2 {
		v = b.Call(Reshape, ReshapeAttrs{Shape: lead.Append(v.Type().Dim(-1))}, v)
	}
	return v
}

// wildBlocks reports whether blocks [..., bytes] have a scale that is large or not finite.
func wildBlocks(a *array.Array) bool {
	const bytes = 34
	rows := array.Contiguous(a)
	b := array.Data[uint8](rows)
	for at := 0; at+bytes <= len(b); at += bytes {
		if d := array.Half(uint16(b[at]) | uint16(b[at+1])<<8).Float32(); !(d > -1 && d < 1) {
			return true
		}
	}
	return false
}
