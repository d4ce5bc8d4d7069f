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
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Embedding{} },
	Grad:   embeddingGrad,
	Samples: func(g *op.Gen) []op.Sample {
		w := g.Normal(7, 5)
		return []op.Sample{
			okCall("vector", op.None{}, g.Int(7, 4), w),
			okCall("matrix", op.None{}, g.Int(7, 2, 3), w),
			okCall("one index", op.None{}, g.Int(7), w),
			okCall("i32 indices", op.None{}, array.Cast(g.Int(7, 2, 3), array.I32), w),
			okCall("no index", op.None{}, g.Int(7, 0, 3), w),
			okCall("no columns", op.None{}, g.Int(7, 3), g.Normal(7, 0)),
			okCall("strided", op.None{}, g.Strided(g.Int(7, 2, 3)), g.Strided(w)),
			okCall("f64", op.None{}, g.Int(7, 3), array.Cast(w, array.F64)),
			okCall("f16", op.None{}, g.Int(7, 3), array.Cast(w, array.F16)),
			okCall("i8", op.None{}, g.Int(7, 3), array.Cast(g.Int(100, 7, 5), array.I8)),
			okCall("special", op.None{}, g.Int(5, 3), array.Reshape(g.Special(), 5, 3)),
		}
	},
	Bad: func(g *op.Gen) []op.BadSample {
		return []op.BadSample{
			badCall(op.DTypeMismatch, "float indices", op.None{}, g.Normal(3), g.Normal(7, 5)),
			badCall(op.RankMismatch, "weight rank", op.None{}, g.Int(7, 3), g.Normal(7)),
		}
	},
})

// EmbeddingBag is torch.nn.functional.embedding_bag.
//
//gofx:torch F.embedding_bag(x, weight, offsets, mode=mode or "mean", include_last_offset=include_last_offset, per_sample_weights=per_sample_weights)
var EmbeddingBag = op.Define("embedding_bag", op.Spec[EmbeddingBagAttrs]{
	Differs: []op.Difference[EmbeddingBagAttrs]{
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

func embeddingBagSamples(g *op.Gen) []op.Sample {
	w, idx := g.Normal(9, 4), g.Int(9, 6)
	starts := array.FromSlice([]int64{0, 2, 2, 5})
	ends := array.FromSlice([]int64{0, 3, 6})
	var out []op.Sample
	for _, mode := range []string{"", "sum", "mean", "max"} {
		out = append(out, okCall("matrix "+mode, EmbeddingBagAttrs{Mode: mode}, g.Int(9, 3, 4), w),
			okCall("offsets "+mode, EmbeddingBagAttrs{Mode: mode}, idx, w, starts))
	}
	sum := EmbeddingBagAttrs{Mode: "sum"}
	return append(out,
		okCall("last offset", EmbeddingBagAttrs{IncludeLastOffset: true}, idx, w, ends),
		okCall("per sample weights", sum, g.Int(9, 3, 4), w, nil, g.Normal(3, 4)),
		okCall("weighted offsets", sum, idx, w, starts, g.Normal(6)),
		okCall("i32", sum, array.Cast(idx, array.I32), w, array.Cast(starts, array.I32)),
		okCall("strided", sum, g.Strided(g.Int(9, 3, 4)), g.Strided(w)),
		okCall("no bags", sum, g.Int(9, 0, 4), w),
		okCall("f64", sum, idx, array.Cast(w, array.F64), starts),
		okCall("f16", EmbeddingBagAttrs{}, idx, array.Cast(w, array.F16), starts),
		okCall("special", EmbeddingBagAttrs{Mode: "max"}, g.Int(5, 3, 2), array.Reshape(g.Special(), 5, 3)))
}

func embeddingBagBad(g *op.Gen) []op.BadSample {
	w, m, sum := g.Normal(9, 4), g.Int(9, 3, 4), EmbeddingBagAttrs{Mode: "sum"}
	return []op.BadSample{
		badCall(op.BadAttr, "mode", EmbeddingBagAttrs{Mode: "median"}, m, w),
		badCall(op.BadAttr, "weights of a mean", EmbeddingBagAttrs{}, m, w, nil, g.Normal(3, 4)),
		badCall(op.DTypeMismatch, "float indices", sum, g.Normal(3, 4), w),
		badCall(op.DTypeMismatch, "float offsets", sum, g.Int(9, 6), w, g.Normal(2)),
		badCall(op.DTypeMismatch, "integer weight", sum, m, g.Int(9, 9, 4)),
		badCall(op.DTypeMismatch, "weights of another type", sum, m, w, nil, array.Cast(g.Normal(3, 4), array.F64)),
		badCall(op.RankMismatch, "rank of x", sum, g.Int(9, 1, 2, 3), w),
		badCall(op.RankMismatch, "rank of weight", sum, m, g.Normal(9)),
		badCall(op.RankMismatch, "rank of offsets", sum, g.Int(9, 6), w, g.Int(2, 1, 2)),
		badCall(op.ShapeMismatch, "shape of weights", sum, m, w, nil, g.Normal(3, 5)),
		badCall(op.OperandCount, "offsets of a matrix", sum, m, w, g.Int(1, 2)),
		badCall(op.SizeMismatch, "no last offset", EmbeddingBagAttrs{IncludeLastOffset: true}, g.Int(9, 6), w, g.Int(1, 0)),
	}
}
