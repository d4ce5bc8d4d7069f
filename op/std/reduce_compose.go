package std

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// LogsumexpAttrs are the attributes of logsumexp: the dimensions to reduce, all
// when empty.
type LogsumexpAttrs struct {
	Dim     op.Ints `fx:",arg"`
	KeepDim bool
}

// NormAttrs are the attributes of norm: the order, 2 when absent (0 counts what
// is not zero, ±inf take the extreme magnitude), and the dimensions to reduce,
// all when empty.
type NormAttrs struct {
	P       op.Scalar `fx:",arg"`
	Dim     op.Ints   `fx:",arg"`
	KeepDim bool
}

func (a NormAttrs) order() float64 {
	if !a.P.Present() {
		return 2
	}
	return a.P.Float64()
}

// Logsumexp is log(sum(exp(x))) without overflow.
//
//gofx:torch torch.logsumexp(x, axes(dim, x), keep_dim)
var Logsumexp = op.Define("logsumexp", op.Spec[LogsumexpAttrs]{
	Doc: "logsumexp is log(sum(exp(x))) over dimensions, computed without overflow; integers give f32.", In: op.Args("x"), Class: op.Reduction,
	Infer: func(c *op.Infer, a LogsumexpAttrs, in []shape.Type) (shape.Type, error) {
		d := in[0].DType()
		if d != array.Invalid && !d.IsFloat() {
			d = array.F32
		}
		return reducedType(c, d, in[0], a.Dim, a.KeepDim, false)
	},
	Decompose: logsumexp, Grad: logsumexpGrad,
	Samples: logsumexpSamples,
	Bad:     logsumexpBad,
})

// Norm is the p-norm of vectors. Powers are taken and added in f32 (f64 for
// f64), so that a norm whose p-th power leaves its range is infinite.
//
//gofx:torch torch.linalg.vector_norm(x, given(p, 2), axes(dim, x), keep_dim)
var Norm = op.Define("norm", op.Spec[NormAttrs]{
	Differs: []op.Difference[NormAttrs]{
		altersPower(NormAttrs.order),
		departs[NormAttrs](op.Extends, "negative orders of nothing, which are 0 or infinite as the sum says", empty),
	},
	Doc: "norm is the p-norm over dimensions, the Euclidean one unless p says otherwise.", In: op.Args("x"), Class: op.Reduction,
	Infer: func(c *op.Infer, a NormAttrs, in []shape.Type) (shape.Type, error) {
		if err := needFloat(in[0].DType()); err != nil {
			return shape.Type{}, err
		}
		return reducedType(c, in[0].DType(), in[0], a.Dim, a.KeepDim, math.IsInf(a.order(), 0))
	},
	Decompose: norm, Grad: normGrad,
	Samples: normSamples,
	Bad:     normBad,
})

// widened returns v in f32 when it is of a narrower float or another type, and
// the function that casts a result to the float type it should have.
func widened(b op.Builder, v op.Value) (wide op.Value, back func(op.Value) op.Value) {
	d := v.Type().DType()
	same := func(v op.Value) op.Value { return v }
	switch d {
	case array.Invalid, array.F32, array.F64:
		return v, same
	case array.F16, array.BF16:
		return b.Call(Cast, CastAttrs{DType: array.F32}, v), func(v op.Value) op.Value { return b.Call(Cast, CastAttrs{DType: d}, v) }
	}
	return b.Call(Cast, CastAttrs{DType: array.F32}, v), same
}

func logsumexp(b op.Builder, a LogsumexpAttrs, in []op.Value) op.Value {
	x, back := widened(b, in[0])
	exps := func(v op.Value, keep bool) op.Value {
		sum := b.Call(Sum, ReduceAttrs{Dim: a.Dim, KeepDim: keep}, b.Call(Exp, op.None{}, v))
		return b.Call(Log, op.None{}, sum)
	}
	axes, _ := axisList(a.Dim, x.Type().Rank())
	for _, i := range axes {
		if x.Type().Dim(i).Is(0) {
			return back(exps(x, a.KeepDim)) // nothing to take the greatest of
		}
	}
	// The greatest element, kept finite so that no infinity meets itself.
	limit := math.MaxFloat32
	if x.Type().DType() == array.F64 {
		limit = math.MaxFloat64
	}
	top := b.Call(Amax, ReduceAttrs{Dim: a.Dim, KeepDim: true}, neverEmpty(b, x, axes))
	top = b.Call(Clamp, ClampAttrs{Min: op.Float(-limit), Max: op.Float(limit)}, top)
	y := b.Call(Add, AddAttrs{}, exps(b.Call(Sub, SubAttrs{}, x, top), true), top)
	if !a.KeepDim {
		y = b.Call(Squeeze, SqueezeAttrs{Dim: a.Dim}, y)
	}
	return back(y)
}

// neverEmpty adds an element of minus infinity to the axes whose size shows only
// at run time, so that there is a greatest element where there are no others.
func neverEmpty(b op.Builder, x op.Value, axes []int) op.Value {
	rank := x.Type().Rank()
	pad := make([]int, 2*rank)
	for _, i := range axes {
		if _, known := x.Type().Dim(i).Int(); !known {
			pad[2*(rank-1-i)+1] = 1
		}
	}
	if !slices.Contains(pad, 1) {
		return x
	}
	return b.Call(Pad, PadAttrs{Pad: shape.ConstDims(pad...), Value: math.Inf(-1)}, x)
}

func norm(b op.Builder, a NormAttrs, in []op.Value) op.Value {
	x, back := widened(b, in[0])
	p := a.order()
	reduce := func(o *op.Op, v op.Value) op.Value {
		return b.Call(o, ReduceAttrs{Dim: a.Dim, KeepDim: a.KeepDim}, v)
	}
	abs := func() op.Value { return b.Call(Abs, op.None{}, x) }
	switch {
	case p == 2:
		return back(b.Call(Sqrt, op.None{}, reduce(Sum, b.Call(Mul, BinaryAttrs{}, x, x))))
	case p == 1:
		return back(reduce(Sum, abs()))
	case p == 0:
		one := b.Call(Cast, CastAttrs{DType: x.Type().DType()}, b.Call(Ne, BinaryAttrs{Other: op.Float(0)}, x))
		return back(reduce(Sum, one))
	case math.IsInf(p, 1):
		return back(reduce(Amax, abs()))
	case math.IsInf(p, -1):
		return back(reduce(Amin, abs()))
	}
	power := func(p float64, v op.Value) op.Value { return b.Call(Pow, ReversibleAttrs{Other: op.Float(p)}, v) }
	return back(power(1/p, reduce(Sum, power(p, abs()))))
}
