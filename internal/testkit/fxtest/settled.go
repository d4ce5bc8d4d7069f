package fxtest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// nudges is how often Settled changes operands.
const nudges = 16

// Settled returns got with want's elements wherever rounding alone decides an element: for example
// the index of the largest of several sums that have the same terms in different orders. run
// computes the results of a graph for operands in which floats are nudged by an ulp; an element
// that it moves further than rounding, or an integer that it changes, was not settled.
func Settled(want, got []*array.Array, operands []*array.Array, run func(operands []*array.Array) ([]*array.Array, error)) []*array.Array {
	out := slices.Clone(got)
	for i, a := range got {
		if a.DType() == want[i].DType() && slices.Equal(a.Shape(), want[i].Shape()) {
			out[i] = array.Contiguous(array.Clone(a))
		}
	}
	for seed := range uint64(nudges) {
		other, err := run(nudged(operands, rand.New(rand.NewPCG(seed, 22))))
		if err != nil {
			continue
		}
		for i, w := range want {
			if out[i] == got[i] || !slices.Equal(other[i].Shape(), w.Shape()) {
				continue
			}
			for k := range w.Len() {
				x, y := element(w, k), element(other[i], k)
				if CloseArray(x, y) != "" {
					array.Copy(element(out[i], k), x)
				}
			}
		}
	}
	return out
}

// element is the array of one element, in the order of rows, which shares memory.
func element(a *array.Array, k int) *array.Array {
	flat := array.Reshape(a, a.Len())
	return array.Slice(flat, 0, k, k+1, 1)
}

// nudged returns operands whose floats are an ulp larger, or smaller, or the same.
func nudged(operands []*array.Array, r *rand.Rand) []*array.Array {
	out := slices.Clone(operands)
	for i, a := range operands {
		if a == nil || !a.DType().IsFloat() {
			continue
		}
		out[i] = array.Contiguous(array.Clone(a))
		for k := range a.Len() {
			x := array.Float64At(a, k)
			if f := math.Abs(x); f > 0 && f <= math.MaxFloat64 {
				array.SetFloat64At(out[i], k, x*(1+float64(r.IntN(3)-1)*ulp[a.DType()]))
			}
		}
	}
	return out
}

var ulp = map[array.DType]float64{array.F64: 0x1p-52, array.F32: 0x1p-23, array.F16: 0x1p-10, array.BF16: 0x1p-7}
