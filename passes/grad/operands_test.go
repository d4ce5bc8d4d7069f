package grad_test

import (
	"math"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// variants name the operands that operandsLike makes of those of a sample.
var variants = []string{"as they are", "of special values", "with ties", "of zeros", "with infinities", "with NaN", "at kinks"}

// specialValues are where functions have kinks, poles and limits.
var specialValues = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 6, 2.5, -2.5,
	1e-5, -1e-5, 20, -20, 88.8, -104, 1e10, -1e10, 1e-30}

// operandsLike returns operands like those of a sample, floats in type d, by variants; nil
// where a sample has none of its kind.
func operandsLike(o *op.Op, s op.Sample, d array.DType, r *rand.Rand) [][]*array.Array {
	base := floatsAs(s.In, d)
	list := [][]*array.Array{base, gridOf(o, base, d)}
	pick := func(from ...float64) func(float64) float64 {
		return func(float64) float64 { return from[r.IntN(len(from))] }
	}
	if list[1] == nil {
		list[1] = changed(base, pick(specialValues...))
	}
	return append(list,
		changed(base, pick(-1, 0, 1, 1, 2)),
		changed(base, pick(0, math.Copysign(0, -1))),
		changed(base, func(v float64) float64 {
			if r.IntN(6) == 0 {
				return math.Inf(1 - 2*r.IntN(2))
			}
			return v
		}),
		changed(base, func(v float64) float64 {
			if r.IntN(6) == 0 {
				return math.NaN()
			}
			return v
		}),
		changed(base, func(v float64) float64 { return math.Round(2*v) / 2 }))
}

// floatsAs are the operands with floats in type d.
func floatsAs(in []*array.Array, d array.DType) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		if a != nil && a.DType().IsFloat() && !a.DType().IsNarrow() {
			a = array.Contiguous(array.Cast(a, d))
		}
		out[i] = a
	}
	return out
}

// changed are the operands with another value for each of a float.
func changed(in []*array.Array, f func(v float64) float64) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		if a != nil && a.DType().IsFloat() && !a.DType().IsNarrow() {
			b := array.New(a.DType(), a.Shape()...)
			for k := range a.Len() {
				array.SetFloat64At(b, k, f(array.Float64At(a, k)))
			}
			a = b
		}
		out[i] = a
	}
	return out
}

// gridOf makes operands of an elementwise operator in which each special value of one
// meets each of the others; nil for other operators.
func gridOf(o *op.Op, in []*array.Array, d array.DType) []*array.Array {
	if o.Class != op.Elementwise {
		return nil
	}
	count := 0
	for _, a := range in {
		if a != nil && a.DType() == d {
			count++
		}
	}
	values := specialValues
	if count > 2 {
		values = values[:8]
	}
	if count == 0 || count > 4 {
		return nil
	}
	total := int(math.Pow(float64(len(values)), float64(count)))
	out, step := make([]*array.Array, len(in)), 1
	for i, a := range in {
		switch {
		case a == nil:
		case a.DType() == d:
			out[i] = array.New(d, total)
			for k := range total {
				array.SetFloat64At(out[i], k, values[k/step%len(values)])
			}
			step *= len(values)
		case a.Len() > 0 && a.DType() != array.U32 && a.DType() != array.U64: // which a key is of
			flat := array.Contiguous(a)
			out[i] = array.New(a.DType(), total)
			for k := range total {
				array.SetInt64At(out[i], k, array.Int64At(flat, (k+k/a.Len())%a.Len()))
			}
		default:
			out[i] = a
		}
	}
	return out
}
