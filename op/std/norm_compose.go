package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// LocalResponseNormAttrs are the attributes of local_response_norm; PyTorch's
// Alpha is 1e-4, Beta 0.75, K 1.
type LocalResponseNormAttrs struct {
	Size  int     `fx:",arg"`
	Alpha float64 `fx:",arg"`
	Beta  float64 `fx:",arg"`
	K     float64 `fx:",arg"`
}

// NormalizeAttrs are the attributes of normalize; PyTorch's P is 2, Dim 1, Eps
// 1e-12.
type NormalizeAttrs struct {
	P   float64 `fx:",arg"`
	Dim int     `fx:",arg"`
	Eps float64 `fx:",arg"`
}

// LocalResponseNorm is torch.nn.functional.local_response_norm.
//
//gofx:torch F.local_response_norm(x, size, alpha, beta, k)
var LocalResponseNorm = op.Define("local_response_norm", op.Spec[LocalResponseNormAttrs]{
	Differs: []op.Difference[LocalResponseNormAttrs]{
		refusesIntegers[LocalResponseNormAttrs](),
	},
	Doc: "local_response_norm divides x [N,C,...] by (k + alpha·m)^beta, m being the mean of the squares of size neighbouring channels, with zeros beyond the ends.",
	Ref: "Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional Neural Networks, 2012",
	In:  op.Args("x"), Class: op.Reduction,
	Infer: func(_ *op.Infer, a LocalResponseNormAttrs, in []shape.Type) (shape.Type, error) {
		d, err := sameFloat([]string{"x"}, in)
		if err != nil {
			return shape.Type{}, err
		}
		if a.Size < 1 || a.Size > maxListAttr {
			return shape.Type{}, badAttr("size", strconv.Itoa(a.Size), "1 or more")
		}
		return withShapeOf(in[0], d), wantRank("x", in[0], 3, anyRank)
	},
	Decompose: localResponseNorm,
	Samples:   localResponseNormSamples,
	Bad:       localResponseNormBad,
})

// localResponseNorm averages over channels with avg_pool2d, the channels being
// its rows; for an even size it pads alike at both ends and drops the last mean.
func localResponseNorm(b op.Builder, a LocalResponseNormAttrs, in []op.Value) op.Value {
	c, x := composer{b}, in[0]
	t := x.Type()
	for _, d := range t.Dims().Slice()[1:] {
		if d.Is(0) {
			return x
		}
	}
	flat := shape.Of(t.Dim(0), t.Dim(1), t.Dims().Sub(2, t.Rank()).Prod())
	square := c.apply(Square, c.reshape(x, flat))
	pool := AvgPoolAttrs{KernelSize: op.IntList(a.Size, 1), Stride: op.IntList(1), Padding: op.IntList(a.Size/2, 0)}
	mean := b.Call(AvgPool2d, pool, square)
	if a.Size%2 == 0 {
		mean = b.Call(Slice, SliceAttrs{Dim: 1, Stop: t.Dim(1)}, mean)
	}
	base := c.shift(c.scale(mean, op.Float(a.Alpha)), op.Float(a.K))
	return c.div(x, c.reshape(c.power(base, a.Beta), t.Dims()))
}

// Normalize is torch.nn.functional.normalize.
//
//gofx:torch F.normalize(x, p, dim, eps)
var Normalize = op.Define("normalize", op.Spec[NormalizeAttrs]{
	Differs: []op.Difference[NormalizeAttrs]{
		refusesEps(func(a NormalizeAttrs) float64 { return a.Eps }),
		altersPower(func(a NormalizeAttrs) float64 { return a.P }),
	},
	Doc: "normalize divides x by its p-norm along a dimension, or by eps where that is greater.",
	In:  op.Args("x"), Class: op.Reduction,
	Infer: func(c *op.Infer, a NormalizeAttrs, in []shape.Type) (shape.Type, error) {
		d, err := sameFloat([]string{"x"}, in)
		if err != nil {
			return shape.Type{}, err
		}
		if err := checkEps(a.Eps); err != nil {
			return shape.Type{}, err
		}
		if in[0].Ranked() {
			if _, err := op.Axis(a.Dim, in[0].Rank()); err != nil {
				return shape.Type{}, err
			}
		}
		if _, err := Norm.Type(c, a.norm(), in); err != nil {
			return shape.Type{}, err
		}
		return withShapeOf(in[0], d), nil
	},
	Decompose: func(b op.Builder, a NormalizeAttrs, in []op.Value) op.Value {
		n := b.Call(Norm, a.norm(), in[0])
		return composer{b}.div(in[0], b.Call(Clamp, ClampAttrs{Min: op.Float(a.Eps)}, n))
	},
	Samples: normalizeSamples,
	Bad:     normalizeBad,
})

func (a NormalizeAttrs) norm() NormAttrs {
	return NormAttrs{P: op.Float(a.P), Dim: op.IntList(a.Dim), KeepDim: true}
}
