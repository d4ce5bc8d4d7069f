package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ScanAttrs are the attributes of cumsum and cumprod: the dimension, and the
// element type in which to compute.
type ScanAttrs struct {
	Dim   int `fx:",arg"`
	DType array.DType
}

// Cumsum is the running sum.
//
//gofx:torch torch.cumsum(x, dim, dtype=dtype)
var Cumsum = scanOp("cumsum", "cumsum is the running sum along a dimension; integers and bools give i64.")

// Cumprod is the running product.
//
//gofx:torch torch.cumprod(x, dim, dtype=dtype)
var Cumprod = scanOp("cumprod", "cumprod is the running product along a dimension; integers and bools give i64.", unlikeFar[ScanAttrs](0),
	op.Difference[ScanAttrs]{Kind: op.GradExtends, Text: "zeros with a dtype of another type, at which PyTorch 1.13 fails", When: func(a ScanAttrs, in []*array.Array) bool {
		return a.DType != array.Invalid && a.DType != in[0].DType() && hasElement(in[0], 0)
	}})

// scanOp defines a running reduction.
func scanOp(name, doc string, differs ...op.Difference[ScanAttrs]) *op.Op {
	return op.Define(name, op.Spec[ScanAttrs]{
		Differs: append(differs, refusesSums(func(a ScanAttrs) array.DType { return a.DType })),
		Doc:     doc, In: op.Args("x"),
		Infer: func(_ *op.Infer, a ScanAttrs, in []shape.Type) (shape.Type, error) {
			d, err := sumType(ReduceAttrs{DType: a.DType}, in[0].DType())
			if err != nil {
				return shape.Type{}, err
			}
			if in[0].Ranked() {
				if _, err := op.Axis(a.Dim, in[0].Rank()); err != nil {
					return shape.Type{}, err
				}
			}
			return typeOf(d, in[0].Ranked(), in[0].Dims().Slice()...), nil
		},
		Kernel: func(a ScanAttrs, in []shape.Type) kernel.Step {
			axis, _ := op.Axis(a.Dim, in[0].Rank())
			return &kernel.Scan{Kind: name, Dim: axis}
		},
		Grad:    scanGrad(name),
		Flops:   func(_ ScanAttrs, in []shape.Type, _ shape.Type) shape.Dim { return elementCount(in[0]) },
		Samples: scanOpSamples,
		Bad:     scanOpBad,
	})
}
