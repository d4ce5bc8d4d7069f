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
