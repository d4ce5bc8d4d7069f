package std

import (
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Softmax is torch.softmax.
//
//	%y = call_function[softmax](%x) {dim=-1} : f32[N,10]
//
//gofx:torch F.softmax(x, dim)
var Softmax = op.Define("softmax", softmaxSpec("softmax is exp(x) / sum(exp(x)) along a dimension, computed without overflow.",
	func(dim int) kernel.Step { return &kernel.Softmax{Dim: dim} }))

// LogSoftmax is torch.log_softmax.
//
//gofx:torch F.log_softmax(x, dim)
var LogSoftmax = op.Define("log_softmax", logSoftmaxSpec())

// Softmin is torch.nn.functional.softmin.
//
//gofx:torch F.softmin(x, dim)
var Softmin = op.Define("softmin", softminSpec())

func softmaxSpec(doc string, step func(dim int) kernel.Step) op.Spec[DimAttrs] {
	s := op.Spec[DimAttrs]{
		Doc: doc, In: op.Args("x"), Class: op.Reduction, Quant: op.QuantFixed, Range: op.Range{Lo: 0, Hi: 1},
		Differs: []op.Difference[DimAttrs]{refusesIntegers[DimAttrs]()},
		Infer: func(_ *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
			d, err := sameFloat([]string{"x"}, in)
			if err != nil {
				return shape.Type{}, err
			}
			if in[0].Ranked() {
				if _, err := op.Axis(a.Dim, in[0].Rank()); err != nil {
					return shape.Type{}, err
				}
			}
			return withShapeOf(in[0], d), nil
		},
		Flops:   func(_ DimAttrs, _ []shape.Type, out shape.Type) shape.Dim { return elementCount(out).MulInt(4) },
		Samples: softmaxSamples,
		Bad:     softmaxSpecBad,
	}
	if step != nil {
		s.Kernel = func(a DimAttrs, in []shape.Type) kernel.Step {
			dim, err := op.Axis(a.Dim, in[0].Rank())
			if err != nil {
				panic(err)
			}
			return step(dim)
		}
		s.Grad = softmaxGrad
	}
	return s
}

func logSoftmaxSpec() op.Spec[DimAttrs] {
	s := softmaxSpec("log_softmax is the logarithm of softmax, computed as such.", func(dim int) kernel.Step { return &kernel.LogSoftmax{Dim: dim} })
	s.Quant, s.Range, s.Grad = op.QuantReference, op.Range{}, logSoftmaxGrad
	return s
}

func softminSpec() op.Spec[DimAttrs] {
	s := softmaxSpec("softmin is softmax of -x.", nil)
	s.Decompose = func(b op.Builder, a DimAttrs, in []op.Value) op.Value {
		return b.Call(Softmax, a, composer{b}.apply(Neg, in[0]))
	}
	return s
}
