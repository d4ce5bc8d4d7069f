package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Det is the determinant of square matrices.
//
//gofx:torch torch.linalg.det(x)
var Det = op.Define("det", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		departs[op.None](op.GradAlters, "those of singular matrices of up to eight rows are the cofactors, and of greater ones NaN; PyTorch changes the matrix a little", func(in []*array.Array) bool { return condition(in[0]) > 1e3 }),
		departs[op.None](op.Alters, "elements that are NaN, infinite or beyond 2^16: elimination in f64 has other overflows", func(in []*array.Array) bool { return far(in[0]) }),
		departs[op.None](op.Extends, "f16 and bf16, which PyTorch has no code for", func(in []*array.Array) bool { return in[0].DType().Size() == 2 }),
	},
	Doc: "det is the determinant of the square matrices in the last two dimensions, computed in f64.", In: op.Args("x"), Class: op.Contraction,
	Grad: detGrad,
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		t, err := squareMatrices(c, in)
		if err != nil || !t.Ranked() {
			return t, err
		}
		return t.WithDims(t.Dims().Sub(0, t.Rank()-2)), nil
	},
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Det{} },
	Flops: func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim {
		return elementCount(in[0]).Mul(in[0].Dim(-1)).FloorDivInt(3).MulInt(2)
	},
	Samples: detSamples,
	Bad:     detBad,
})

// squareMatrices is the type of x, a float tensor whose last two dimensions are square matrices.
func squareMatrices(c *op.Infer, in []shape.Type) (shape.Type, error) {
	t := in[0]
	d, err := sameFloat([]string{"x"}, in)
	if err != nil {
		return t, err
	}
	if err := wantRank("x", t, 2, 1<<30); err != nil || !t.Ranked() {
		return shape.Unranked(d), err
	}
	_, err = c.Equal(t.Dim(-2), t.Dim(-1), op.ShapeMismatch, func() string {
		return "x has matrices of " + t.Dim(-2).String() + " rows and " + t.Dim(-1).String() + " columns, expected square ones"
	})
	return t, err
}

// Inverse is the inverse of square matrices.
//
//gofx:torch torch.linalg.inv(x)
var Inverse = op.Define("inverse", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		departs[op.None](op.Extends, "singular matrices: NaN everywhere, where PyTorch raises an error", func(in []*array.Array) bool { return condition(in[0]) > 1e6 }),
		departs[op.None](op.Alters, "matrices so close to singular ones that rounding decides about the result", func(in []*array.Array) bool { return condition(in[0]) > 1e3 }),
		departs[op.None](op.Extends, "f16 and bf16, which PyTorch has no code for", func(in []*array.Array) bool { return in[0].DType().Size() == 2 }),
	},
	Doc: "inverse is the inverse of the square matrices in the last two dimensions; a singular one gives NaN everywhere.", In: op.Args("x"), Class: op.Contraction,
	Grad:   inverseGrad,
	Infer:  func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return squareMatrices(c, in) },
	Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Inverse{} },
	Flops: func(_ op.None, in []shape.Type, _ shape.Type) shape.Dim {
		return elementCount(in[0]).Mul(in[0].Dim(-1)).MulInt(2)
	},
	Samples: inverseSamples,
	Bad:     inverseBad,
})

// regular adds a number to the diagonals of matrices that keeps them from being nearly singular.
func regular(x *array.Array) *array.Array {
	n := x.Dim(-1)
	data := array.Data[float32](x)
	for i := range x.Len() / max(1, n*n) {
		for k := range n {
			data[i*n*n+k*n+k] += float32(2 + n)
		}
	}
	return x
}

// condition is the greatest condition, by Frobenius norms and relative to their size, of
// square matrices; infinite where one is singular or has what is not finite.
func condition(x *array.Array) float64 {
	x = array.Contiguous(array.Cast(x, array.F64))
	y := array.New(array.F64, x.Shape()...)
	kernel.Inverse{}.Run(&kernel.Workspace{}, []*array.Array{y}, []*array.Array{x})
	n := x.Dim(-1)
	a, b, worst := array.Data[float64](x), array.Data[float64](y), 0.0
	for i := range x.Len() / max(1, n*n) {
		p, q := 0.0, 0.0
		for k := i * n * n; k < (i+1)*n*n; k++ {
			p, q = p+a[k]*a[k], q+b[k]*b[k]
		}
		if c := math.Sqrt(p) * math.Sqrt(q) / float64(n); c > worst {
			worst = c
		} else if c != c {
			return math.Inf(1)
		}
	}
	return worst
}

// BitcastAttrs are the attributes of bitcast.
type BitcastAttrs struct {
	DType array.DType `fx:"dtype,arg"`
}

// Bitcast reads the bits of elements as another type.
//
//gofx:torch bitcast(x, dtype)
var Bitcast = op.Define("bitcast", op.Spec[BitcastAttrs]{
	Doc: "bitcast gives the bits of x the element type dtype, of the same size; bool and types of 4 and 2 bits take part in neither way.", In: op.Args("x"), Class: op.Movement, Quant: op.QuantNever, Narrow: true,
	NoGrad: "bits are no numbers to differentiate by",
	Infer: func(_ *op.Infer, a BitcastAttrs, in []shape.Type) (shape.Type, error) {
		d := in[0].DType()
		switch {
		case a.DType.Bits() < 8 || a.DType == array.Bool:
			return in[0], badAttr("dtype", a.DType.String(), "a number's type of 8 bits or more")
		case d == array.Bool || d != array.Invalid && d.Bits() < 8 || d != array.Invalid && d.Size() != a.DType.Size():
			return in[0], diag.New(op.DTypeMismatch, "x has element type "+d.String()+", expected one of the size of "+a.DType.String()).WithHint("cast x, or take another type")
		}
		return in[0].WithDType(a.DType), nil
	},
	Kernel:  func(BitcastAttrs, []shape.Type) kernel.Step { return &kernel.Bitcast{} },
	Samples: bitcastSamples,
	Bad:     bitcastBad,
})
