package std

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// AttentionAttrs are the attributes of scaled_dot_product_attention. An absent
// Scale is 1/sqrt of the last size of q. EnableGqa lets k and v have fewer heads
// (dimension -3) than q, by a whole factor.
type AttentionAttrs struct {
	IsCausal  bool
	Scale     op.Scalar
	EnableGqa bool
}

// ScaledDotProductAttention is torch.nn.functional.scaled_dot_product_attention
// without dropout. A row whose bool mask is false everywhere gives zeros.
//
//gofx:torch attention(q, k, v, attn_mask, is_causal, scale, enable_gqa)
var ScaledDotProductAttention = op.Define("scaled_dot_product_attention", op.Spec[AttentionAttrs]{
	Differs: []op.Difference[AttentionAttrs]{
		refusesMixed[AttentionAttrs](),
		extendsEmpty[AttentionAttrs](),
		departs[AttentionAttrs](op.Alters, "scale is applied to q first, so that what underflows then meets infinity as 0", func(in []*array.Array) bool { return slices.ContainsFunc(in, huge) }),
		departs[AttentionAttrs](op.Alters, "rows of which the mask leaves nothing are 0 whatever v holds, and no others are, which shows where the operands are not finite", func(in []*array.Array) bool {
			return len(in) > 3 && in[3] != nil && in[3].DType() == array.Bool && slices.ContainsFunc(in, huge)
		}),
	},
	Doc: "scaled_dot_product_attention is softmax(q @ kᵀ · scale) @ v for q [...,L,E], k [...,S,E], v [...,S,V]; attn_mask [...,L,S] keeps where true, or is added.",
	Ref: "Vaswani et al., Attention Is All You Need, 2017, arXiv:1706.03762",
	In:  op.Args("q", "k", "v", "attn_mask?"), Class: op.Contraction,
	Infer:     inferAttention,
	Decompose: attention, Grad: attentionGrad,
	Flops: func(_ AttentionAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return twiceProduct(elementCount(in[0]), in[1].Dim(-2)).Add(twiceProduct(elementCount(out), in[1].Dim(-2)))
	},
	Samples: attentionSamples,
	Bad:     attentionBad,
})

func inferAttention(c *op.Infer, a AttentionAttrs, in []shape.Type) (shape.Type, error) {
	names := []string{"q", "k", "v"}
	d, err := sameFloat(names, in[:3])
	if err != nil {
		return shape.Type{}, err
	}
	for i, name := range names {
		if err := wantRank(name, in[i], 2, anyRank); err != nil {
			return shape.Type{}, err
		}
	}
	q, k, v, mask := in[0], in[1], in[2], operandAt(in, 3)
	if _, err := c.Equal(q.Dim(-1), k.Dim(-1), op.ShapeMismatch, func() string {
		return "q has " + q.Dim(-1).String() + " features, k has " + k.Dim(-1).String()
	}); err != nil {
		return shape.Type{}, err
	}
	if _, err := c.Equal(k.Dim(-2), v.Dim(-2), op.ShapeMismatch, func() string {
		return "v has " + v.Dim(-2).String() + " positions, k has " + k.Dim(-2).String()
	}); err != nil {
		return shape.Type{}, err
	}
	if err := checkMask(a, d, mask); err != nil {
		return shape.Type{}, err
	}
	if !q.Ranked() || !k.Ranked() || !v.Ranked() {
		return shape.Unranked(d), nil
	}
	lead, err := attentionBatch(c, a, q, k, v)
	if err != nil {
		return shape.Type{}, err
	}
	if mask.Ranked() {
		dims, err := c.Broadcast(lead.Append(q.Dim(-2), k.Dim(-2)), mask.Dims())
		if err != nil {
			return shape.Type{}, err
		}
		if lead = dims.Sub(0, dims.Len()-2); !dims.At(-2).Same(q.Dim(-2)) && q.Dim(-2).Is(1) {
			return shape.Type{}, diag.New(op.ShapeMismatch, "attn_mask "+mask.String()+" has "+mask.Dim(-2).String()+" rows, q has 1")
		}
	}
	return shape.TensorType(d, lead.Append(q.Dim(-2), v.Dim(-1))), nil
}

func checkMask(a AttentionAttrs, d array.DType, mask shape.Type) error {
	if mask.Kind() != shape.Tensor {
		return nil
	}
	if a.IsCausal {
		return badAttr("is_causal", "true", "false with attn_mask")
	}
	if m := mask.DType(); m != array.Bool && m != d && m != array.Invalid && d != array.Invalid {
		return diag.New(op.DTypeMismatch, "attn_mask has element type "+m.String()+", expected bool or that of q, "+d.String())
	}
	return nil
}

// groupFactor returns how often the heads of t repeat to match those of q, 0
// when one of the two is not a number.
func groupFactor(c *op.Infer, name string, q, t shape.Type) (int, error) {
	heads, of := q.Dim(-3), t.Dim(-3)
	what := func() string {
		return "q has " + heads.String() + " heads, expected a multiple of those of " + name + ", " + of.String()
	}
	if err := c.AtLeast(of, shape.Const(1), op.ShapeMismatch, what); err != nil {
		return 0, err
	}
	if err := c.Multiple(heads, of, op.ShapeMismatch, what); err != nil {
		return 0, err
	}
	n, ok := heads.Int()
	m, known := of.Int()
	if !ok || !known {
		return 0, nil
	}
	return n / m, nil
}

// knownFactor is groupFactor of numbers, and panics where one is open.
func knownFactor(q, t shape.Type) int {
	n, err := groupFactor(nil, "k", q, t)
	if err != nil {
		panic(err)
	}
	if n == 0 {
		panic(badAttr("enable_gqa", "true", "known numbers of heads, q has "+q.Dim(-3).String()+", the others have "+t.Dim(-3).String()))
	}
	return n
}

// attentionBatch returns the broadcast leading dimensions.
func attentionBatch(c *op.Infer, a AttentionAttrs, q, k, v shape.Type) (shape.Dims, error) {
	lead := func(t shape.Type) shape.Dims { return t.Dims().Sub(0, t.Rank()-2) }
	dims := lead(q)
	for i, t := range []shape.Type{k, v} {
		l := lead(t)
		if a.EnableGqa {
			if q.Rank() < 3 || t.Rank() < 3 {
				return dims, badAttr("enable_gqa", "true", "operands of three or more dimensions")
			}
			if _, err := groupFactor(c, []string{"k", "v"}[i], q, t); err != nil {
				return dims, err
			}
			l = l.With(-1, q.Dim(-3))
		}
		var err error
		if dims, err = c.Broadcast(dims, l); err != nil {
			return dims, err
		}
	}
	return dims, nil
}

func attention(b op.Builder, a AttentionAttrs, in []op.Value) op.Value {
	c := composer{b}
	q, k, v, mask := in[0], in[1], in[2], valueAt(in, 3)
	if a.EnableGqa {
		repeat := func(x op.Value) op.Value {
			n := knownFactor(q.Type(), x.Type())
			if n == 1 {
				return x
			}
			return b.Call(RepeatInterleave, RepeatInterleaveAttrs{Repeats: n, Dim: -3}, x)
		}
		k, v = repeat(k), repeat(v)
	}
	scores := b.Call(Matmul, op.None{}, scaledQuery(c, a.Scale, q), c.transpose(k, -2, -1))
	if a.IsCausal {
		ones := b.Call(Ones, SizeAttrs{Size: shape.Of(q.Type().Dim(-2), k.Type().Dim(-2)), DType: array.Bool})
		keep := b.Call(Tril, TriAttrs{}, ones)
		return b.Call(Matmul, op.None{}, b.Call(Softmax, DimAttrs{-1}, keepWhere(b, keep, scores)), v)
	}
	if mask == nil {
		return b.Call(Matmul, op.None{}, b.Call(Softmax, DimAttrs{-1}, scores), v)
	}
	if mask.Type().DType() != array.Bool {
		return b.Call(Matmul, op.None{}, b.Call(Softmax, DimAttrs{-1}, c.add(scores, mask)), v)
	}
	out := b.Call(Matmul, op.None{}, b.Call(Softmax, DimAttrs{-1}, keepWhere(b, mask, scores)), v)
	// A row without any position is 0/0 above.
	some := mask
	if mask.Type().Rank() > 0 {
		some = b.Call(Any, ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, mask)
	}
	return b.Call(Where, WhereAttrs{Other: op.Int(0)}, some, out)
}

// scaledQuery returns q times the scale, which is computed with q where the last
// size is not a number.
func scaledQuery(c composer, scale op.Scalar, q op.Value) op.Value {
	n, ok := q.Type().Dim(-1).Int()
	switch {
	case scale.Present():
		return c.scale(q, scale)
	case ok:
		return c.scale(q, op.Float(1/math.Sqrt(float64(n))))
	}
	// As exact as the number would be, and multiplied as numbers are.
	size := c.Call(Cast, CastAttrs{DType: array.F64}, c.Call(op.Dim, op.AxisAttrs{Axis: -1}, q))
	wide, back := widened(c, q)
	factor := c.apply(Reciprocal, c.apply(Sqrt, size))
	return back(c.mul(wide, c.Call(Cast, CastAttrs{DType: wide.Type().DType()}, factor)))
}

// keepWhere sets scores to -inf where mask is false.
func keepWhere(b op.Builder, mask, scores op.Value) op.Value {
	return b.Call(Where, WhereAttrs{Other: op.Float(math.Inf(-1))}, mask, scores)
}
