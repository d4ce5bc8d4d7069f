package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// AddmmAttrs are the attributes of addmm; an absent factor is 1.
type AddmmAttrs struct {
	Beta, Alpha op.Scalar
}

// check refuses factors that operands of type d cannot be multiplied by: a product
// of integers stays one.
func (a AddmmAttrs) check(d array.DType) error {
	wide := d
	if d.Size() == 2 && d.IsFloat() {
		wide = array.F32 // as the product is computed
	}
	for i, s := range []op.Scalar{a.Beta, a.Alpha} {
		name := []string{"beta", "alpha"}[i]
		if s.IsFloat() && d.IsInt() {
			return badAttr(name, s.String(), "an integer for operands of "+d.String())
		}
		if err := checkFits(name, wide, s); err != nil {
			return err
		}
	}
	return nil
}

// Matmul is torch.matmul.
//
//	%y = call_function[matmul](%a, %b) : f32[N,12]
var Matmul = op.Define("matmul", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
	},
	Doc: "matmul multiplies matrices: the last two dimensions of x and y, or vectors where they have one; leading dimensions broadcast.",
	In:  op.Args("x", "y"), Class: op.Contraction, Quant: op.QuantReference,
	Grad:  productGrad,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return inferMatMul(c, in) },
	Kernel: func(op.None, []shape.Type) kernel.Step {
		return &kernel.MatMul{}
	},
	Flops:   matMulFlops[op.None],
	Samples: matMulSamples,
	Bad:     matMulBad,
})

// Bmm is torch.bmm.
var Bmm = op.Define("bmm", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
	},
	Doc: "bmm multiplies batches of matrices [B,M,K] and [B,K,N].",
	In:  op.Args("x", "y"), Class: op.Contraction,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		for i, name := range []string{"x", "y"} {
			if err := wantRank(name, in[i], 3, 3); err != nil {
				return shape.Type{}, err
			}
		}
		if _, err := c.Equal(in[0].Dim(0), in[1].Dim(0), op.ShapeMismatch, func() string {
			return "y has a batch of " + in[1].Dim(0).String() + ", x has " + in[0].Dim(0).String()
		}); err != nil {
			return shape.Type{}, err
		}
		return inferMatMul(c, in)
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.MatMul{} },
	Grad:    productGrad,
	Flops:   matMulFlops[op.None],
	Samples: bmmSamples,
	Bad:     bmmBad,
})

// Addmm is torch.addmm.
//
//gofx:torch torch.addmm(x, a, b, beta=given(beta, 1), alpha=given(alpha, 1))
var Addmm = op.Define("addmm", op.Spec[AddmmAttrs]{
	Differs: []op.Difference[AddmmAttrs]{
		refusesMixed[AddmmAttrs](),
		{Kind: op.Alters, Text: "an alpha of 0 or infinity multiplies the sums of products, also those that are NaN, infinite or of nothing: PyTorch multiplies terms or leaves them out", When: func(a AddmmAttrs, _ []*array.Array) bool {
			return a.Alpha.Present() && (a.Alpha.Float64() == 0 || a.Alpha.Float64()-a.Alpha.Float64() != 0)
		}},
		refusesFraction("factor", func(a AddmmAttrs) []op.Scalar { return []op.Scalar{a.Alpha, a.Beta} }),
	},
	Doc: "addmm returns beta·x + alpha·(a @ b) for matrices a and b; x broadcasts to the product, and is not looked at where beta is 0.",
	In:  op.Args("x", "a", "b"), Class: op.Contraction,
	Infer: func(c *op.Infer, a AddmmAttrs, in []shape.Type) (shape.Type, error) {
		d, err := sameNumber([]string{"x", "a", "b"}, in)
		if err != nil {
			return shape.Type{}, err
		}
		if err := a.check(d); err != nil {
			return shape.Type{}, err
		}
		for i, name := range []string{"a", "b"} {
			if err := wantRank(name, in[1+i], 2, 2); err != nil {
				return shape.Type{}, err
			}
		}
		t, err := inferMatMul(c, in[1:])
		if err != nil || !t.Ranked() || !in[0].Ranked() {
			return t, err
		}
		if in[0].Rank() > 2 {
			return shape.Type{}, wantRank("x", in[0], 1, 2)
		}
		return t, stretches(c, in[0].Dims(), t.Dims())
	},
	Decompose: func(b op.Builder, a AddmmAttrs, in []op.Value) op.Value {
		scale := func(v op.Value, s op.Scalar) op.Value {
			if !s.Present() {
				return v
			}
			return composer{b}.scale(v, s)
		}
		p := scale(b.Call(Matmul, op.None{}, in[1], in[2]), a.Alpha)
		if a.Beta.Present() && a.Beta.Float64() == 0 {
			return p // PyTorch's promise: NaN and infinity of x do not matter
		}
		return composer{b}.add(scale(in[0], a.Beta), p)
	},
	Flops: func(_ AddmmAttrs, in []shape.Type, out shape.Type) shape.Dim {
		return matMulFlops(op.None{}, in[1:], out)
	},
	Samples: addmmSamples,
	Bad:     addmmBad,
})

// stretches requires x to broadcast to the dimensions of a product as they are.
func stretches(c *op.Infer, x, product shape.Dims) error {
	all, err := c.Broadcast(x, product)
	for i := 0; err == nil && i < all.Len(); i++ {
		_, err = c.Equal(all.At(i), product.At(i), op.ShapeMismatch, func() string {
			return "x " + x.String() + " does not broadcast to the product " + product.String()
		})
	}
	return err
}

// Outer is torch.outer.
var Outer = op.Define("outer", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		refusesMixed[op.None](),
	},
	Doc: "outer returns the products of every element of the vector x with every element of the vector y.",
	In:  op.Args("x", "y"), Class: op.Contraction,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		for i, name := range []string{"x", "y"} {
			if err := wantRank(name, in[i], 1, 1); err != nil {
				return shape.Type{}, err
			}
		}
		d := array.Invalid
		if in[0].DType() != array.Invalid && in[1].DType() != array.Invalid {
			d = op.Promote(in)
		}
		return shape.TensorType(d, shape.Of(in[0].Dim(0), in[1].Dim(0))), nil
	},
	Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
		return composer{b}.mul(b.Call(Unsqueeze, DimAttrs{Dim: 1}, in[0]), in[1])
	},
	Flops:   func(_ op.None, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out) },
	Samples: outerSamples,
	Bad:     outerBad,
})

func inferMatMul(c *op.Infer, in []shape.Type) (shape.Type, error) {
	d, err := sameNumber([]string{"x", "y"}, in)
	if err != nil {
		return shape.Type{}, err
	}
	x, y := in[0], in[1]
	for i, name := range []string{"x", "y"} {
		if err := wantRank(name, in[i], 1, anyRank); err != nil {
			return shape.Type{}, err
		}
	}
	if !x.Ranked() || !y.Ranked() {
		return shape.Unranked(d), nil
	}
	inner := y.Dim(-min(2, y.Rank()))
	if err := innerEqual(c, x, y, inner); err != nil {
		return shape.Type{}, err
	}
	lead := func(t shape.Type) shape.Dims { return t.Dims().Sub(0, max(0, t.Rank()-2)) }
	dims, err := c.Broadcast(lead(x), lead(y))
	if err != nil {
		return shape.Type{}, err
	}
	if x.Rank() > 1 {
		dims = dims.Append(x.Dim(-2))
	}
	if y.Rank() > 1 {
		dims = dims.Append(y.Dim(-1))
	}
	return shape.TensorType(d, dims), nil
}

func innerEqual(c *op.Infer, x, y shape.Type, inner shape.Dim) error {
	_, err := c.Equal(x.Dim(-1), inner, op.ShapeMismatch, func() string {
		return "x " + x.Dims().String() + " has " + x.Dim(-1).String() + " columns, y " + y.Dims().String() + " has " + inner.String() + " rows"
	})
	if e, ok := err.(*diag.Error); ok && y.Rank() > 1 && y.Dim(-1).Equal(x.Dim(-1)) {
		return e.WithHint("transpose the last two dimensions of y")
	}
	return err
}

func matMulFlops[A any](_ A, in []shape.Type, out shape.Type) shape.Dim {
	return twiceProduct(elementCount(out), in[0].Dim(-1))
}

func matMulSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("matrices", g.Normal(5, 7), g.Normal(7, 3)),
		pair("batch broadcast", g.Normal(2, 1, 4, 6), g.Normal(3, 6, 5)),
		pair("batch by matrix", g.Normal(2, 4, 6), g.Normal(6, 5)),
		pair("strided", g.Strided(g.Normal(2, 5, 6)), g.Strided(g.Normal(2, 6, 4))),
		pair("vector vector", g.Normal(9), g.Normal(9)),
		pair("matrix vector", g.Normal(2, 4, 9), g.Normal(9)),
		pair("vector matrix", g.Normal(9), g.Normal(3, 9, 2)),
		pair("no inner", g.Normal(3, 0), g.Normal(0, 4)),
		pair("empty", g.Normal(0, 3), g.Normal(3, 4)),
		pair("i64", g.Int(9, 3, 4), g.Int(9, 4, 2)),
		pair("f64", array.Cast(g.Normal(3, 4), array.F64), array.Cast(g.Normal(4, 2), array.F64)),
		pair("f16", array.Cast(g.Uniform(-1, 1, 3, 4), array.F16), array.Cast(g.Uniform(-1, 1, 4, 2), array.F16)),
		pair("special", array.Reshape(g.Special(), 5, 3), g.Uniform(0.5, 1, 3, 2)),
	}
}

func matMulBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, x, y *array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}, Code: code}
	}
	return []op.BadSample{
		bad("inner", op.ShapeMismatch, g.Normal(3, 4), g.Normal(3, 4)),
		bad("batch", op.ShapeMismatch, g.Normal(2, 3, 4), g.Normal(3, 4, 5)),
		bad("scalar", op.RankMismatch, g.Normal(), g.Normal(3)),
		bad("mixed types", op.DTypeMismatch, g.Normal(3, 4), g.Int(5, 4, 2)),
		bad("bool", op.DTypeMismatch, g.Bool(3, 4), g.Bool(4, 2)),
	}
}

func bmmSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("batch", g.Normal(3, 4, 5), g.Normal(3, 5, 6)),
		pair("one", g.Normal(1, 4, 5), g.Normal(1, 5, 1)),
		pair("strided", g.Strided(g.Normal(2, 4, 5)), g.Strided(g.Normal(2, 5, 3))),
		pair("empty batch", g.Normal(0, 4, 5), g.Normal(0, 5, 3)),
		pair("no inner", g.Normal(2, 4, 0), g.Normal(2, 0, 3)),
		pair("i32", array.Cast(g.Int(9, 2, 3, 4), array.I32), array.Cast(g.Int(9, 2, 4, 2), array.I32)),
		pair("f64", array.Cast(g.Normal(2, 3, 4), array.F64), array.Cast(g.Normal(2, 4, 2), array.F64)),
		pair("bf16", array.Cast(g.Uniform(-1, 1, 2, 3, 4), array.BF16), array.Cast(g.Uniform(-1, 1, 2, 4, 2), array.BF16)),
	}
}

func bmmBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, x, y *array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}, Code: code}
	}
	return []op.BadSample{
		bad("rank", op.RankMismatch, g.Normal(3, 4), g.Normal(3, 4, 5)),
		bad("batch", op.ShapeMismatch, g.Normal(1, 3, 4), g.Normal(2, 4, 5)),
		bad("inner", op.ShapeMismatch, g.Normal(2, 3, 4), g.Normal(2, 3, 4)),
		bad("mixed types", op.DTypeMismatch, g.Normal(2, 3, 4), g.Int(5, 2, 4, 2)),
	}
}

func addmmSamples(g *op.Gen) []op.Sample {
	call := func(name string, a AddmmAttrs, in ...*array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: a, In: in}
	}
	return []op.Sample{
		call("plain", AddmmAttrs{}, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		call("bias", AddmmAttrs{}, g.Normal(5), g.Normal(3, 4), g.Normal(4, 5)),
		call("column", AddmmAttrs{}, g.Normal(3, 1), g.Normal(3, 4), g.Normal(4, 5)),
		call("factors", AddmmAttrs{Beta: op.Float(0.5), Alpha: op.Float(-2)}, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		call("beta", AddmmAttrs{Beta: op.Int(3)}, g.Normal(5), g.Normal(3, 4), g.Normal(4, 5)),
		call("integers", AddmmAttrs{Alpha: op.Int(2)}, g.Int(9, 2), g.Int(9, 3, 4), g.Int(9, 4, 2)),
		call("strided", AddmmAttrs{}, g.Strided(g.Normal(3, 5)), g.Strided(g.Normal(3, 4)), g.Strided(g.Normal(4, 5))),
		call("no inner", AddmmAttrs{}, g.Normal(5), g.Normal(3, 0), g.Normal(0, 5)),
		call("beta of 0", AddmmAttrs{Beta: op.Int(0)}, g.Special(), g.Normal(3, 4), g.Normal(4, 15)),
		call("f64", AddmmAttrs{}, array.Cast(g.Normal(2), array.F64), array.Cast(g.Normal(3, 4), array.F64), array.Cast(g.Normal(4, 2), array.F64)),
	}
}

func addmmBad(g *op.Gen) []op.BadSample {
	bad := func(name string, code diag.Code, in ...*array.Array) op.BadSample {
		return op.BadSample{Name: name, Attrs: AddmmAttrs{}, In: in, Code: code}
	}
	return []op.BadSample{
		bad("vector", op.RankMismatch, g.Normal(5), g.Normal(4), g.Normal(4, 5)),
		bad("high rank", op.RankMismatch, g.Normal(2, 3, 5), g.Normal(3, 4), g.Normal(4, 5)),
		bad("inner", op.ShapeMismatch, g.Normal(5), g.Normal(3, 4), g.Normal(3, 5)),
		bad("bias", op.ShapeMismatch, g.Normal(4), g.Normal(3, 4), g.Normal(4, 5)),
		bad("larger than the product", op.ShapeMismatch, g.Normal(3, 5), g.Normal(3, 4), g.Normal(4, 1)),
		bad("types", op.DTypeMismatch, g.Int(4, 5), g.Normal(3, 4), g.Normal(4, 5)),
		{Name: "factor of integers", Attrs: AddmmAttrs{Alpha: op.Float(1.5)}, In: []*array.Array{g.Int(9, 2), g.Int(9, 3, 4), g.Int(9, 4, 2)}, Code: op.BadAttr},
		{Name: "factor beyond f32", Attrs: AddmmAttrs{Beta: op.Float(1e39)}, In: []*array.Array{g.Normal(2), g.Normal(3, 4), g.Normal(4, 2)}, Code: op.BadAttr},
	}
}

func outerSamples(g *op.Gen) []op.Sample {
	pair := func(name string, x, y *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: op.None{}, In: []*array.Array{x, y}}
	}
	return []op.Sample{
		pair("vectors", g.Normal(3), g.Normal(5)),
		pair("one", g.Normal(1), g.Normal(4)),
		pair("empty", g.Normal(0), g.Normal(4)),
		pair("integers", g.Int(9, 3), g.Int(9, 2)),
		pair("promoted", g.Int(9, 3), g.Normal(2)),
		pair("f64", array.Cast(g.Normal(3), array.F64), array.Cast(g.Normal(2), array.F64)),
		pair("f16", array.Cast(g.Uniform(-1, 1, 3), array.F16), array.Cast(g.Uniform(-1, 1, 2), array.F16)),
		pair("strided", array.Slice(g.Normal(6), 0, 0, 6, 2), g.Normal(2)),
		pair("special", g.Special(), g.Normal(2)),
	}
}

func outerBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "matrix", Attrs: op.None{}, In: []*array.Array{g.Normal(2, 3), g.Normal(3)}, Code: op.RankMismatch},
		{Name: "scalar", Attrs: op.None{}, In: []*array.Array{g.Normal(3), g.Normal()}, Code: op.RankMismatch},
	}
}
