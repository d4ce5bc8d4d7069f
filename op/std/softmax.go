package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
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
		Bad: func(g *op.Gen) []op.BadSample {
			return []op.BadSample{
				badCall(op.BadAxis, "axis", DimAttrs{2}, g.Normal(2, 3)),
				badCall(op.BadAxis, "negative axis", DimAttrs{-3}, g.Normal(2, 3)),
				badCall(op.DTypeMismatch, "integers", DimAttrs{0}, g.Int(9, 3)),
			}
		},
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

func softmaxSamples(g *op.Gen) []op.Sample {
	inf := float32(math.Inf(1))
	return []op.Sample{
		okCall("last", DimAttrs{1}, g.Normal(3, 5)),
		okCall("negative axis", DimAttrs{-1}, g.Normal(2, 3, 4)),
		okCall("middle", DimAttrs{1}, g.Normal(2, 3, 4)),
		okCall("first", DimAttrs{0}, g.Normal(4, 3)),
		okCall("large values", DimAttrs{1}, g.Uniform(900, 1000, 2, 5)),
		okCall("strided", DimAttrs{-1}, g.Strided(g.Normal(2, 3, 4))),
		okCall("empty batch", DimAttrs{1}, g.Normal(0, 3)),
		okCall("empty rows", DimAttrs{1}, g.Normal(3, 0)),
		okCall("0-dimensional", DimAttrs{0}, g.Normal()),
		okCall("f64", DimAttrs{1}, array.Cast(g.Normal(3, 5), array.F64)),
		okCall("f16", DimAttrs{1}, array.Cast(g.Normal(3, 5), array.F16)),
		okCall("masked", DimAttrs{1}, array.FromSlice([]float32{1, -inf, 2, 3, 4, -inf}, 2, 3)),
		okCall("special", DimAttrs{1}, array.Reshape(g.Special(), 5, 3)),
	}
}
