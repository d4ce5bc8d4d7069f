package fxtest

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// Rounding is the error of one rounding to a float type, times four: an operator may round more than once.
var Rounding = map[array.DType]float64{array.F16: 0x1p-9, array.BF16: 0x1p-6, array.F32: 0x1p-21, array.F64: 0x1p-50}

// least are the least normal numbers: devices may treat smaller numbers as zero.
var least = map[array.DType]float64{array.F16: 0x1p-14, array.BF16: 0x1p-126, array.F32: 0x1p-126, array.F64: 0x1p-1022}

// cancelling are elementwise operators that add numbers of opposite signs, as sums do.
var cancelling = map[string]bool{"gelu": true, "logaddexp": true}

// ToleranceOf is how far a target's result of a call may be from the expected one, relatively and
// absolutely: 0 for integers and for values that are only moved. See Near.
//
// A tolerance of the operator's own is for results that jump: those of sums of integers, exact
// except where a number halfway between two integers is rounded. Calls are held to a few roundings,
// and to how far they jump when operands move by one: an integer that is wrong shows.
func ToleranceOf(o *op.Op, attrs any, in []*array.Array, want *array.Array) (rel, abs float64) {
	u, float := Rounding[want.DType()]
	if !float || o.Class == op.Movement {
		return 0, 0
	}
	rel, abs = u, least[want.DType()]
	jumps := o.Tol != (op.Tolerance{})
	if o.Class != op.Elementwise && !jumps {
		rel = max(rel, 1e-5)
	}
	if o.Class != op.Elementwise || len(o.In) > 2 || cancelling[o.Name] {
		for k := range want.Len() { // sums of products cancel: errors are relative to the summands
			if x := math.Abs(array.Float64At(want, k)); x <= math.MaxFloat64 {
				abs = max(abs, rel*max(x, 1))
			}
		}
	}
	if jumps {
		abs += 2 * moves(o, attrs, in)
	}
	return rel, abs
}

// moves is how far results of a call move at most when floats of its operands do by a rounding.
func moves(o *op.Op, attrs any, in []*array.Array) (far float64) {
	const trials, rounding = 8, 0x1p-22
	still, err := o.Eval(&kernel.Workspace{}, attrs, in)
	if err != nil {
		return 0
	}
	for trial := range trials {
		moved := slices.Clone(in)
		for i, a := range in {
			if a == nil || !a.DType().IsFloat() {
				continue
			}
			moved[i] = array.Contiguous(array.Clone(a))
			for e := range a.Len() {
				sign := float64((7919*e+31*trial)%3 - 1)
				array.SetFloat64At(moved[i], e, array.Float64At(a, e)*(1+sign*rounding))
			}
		}
		out, err := o.Eval(&kernel.Workspace{}, attrs, moved)
		if err != nil {
			return 0
		}
		for i := range out {
			if d := Compare(out[i], still[i]).MaxAbs; !math.IsInf(d, 0) {
				far = max(far, d)
			}
		}
	}
	return far
}

// Beyond says how a result of a call differs beyond its tolerance, "" when it does not.
func Beyond(o *op.Op, attrs any, in []*array.Array, want, got *array.Array) string {
	d := SameArray(want, got)
	if d == "" || got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return d
	}
	rel, abs := ToleranceOf(o, attrs, in, want)
	for k := range want.Len() {
		if !Near(array.Float64At(want, k), array.Float64At(got, k), rel, abs) {
			return d
		}
	}
	return ""
}

// Near reports whether y is x within tolerances. Any NaN is another, and infinities have a sign.
func Near(x, y, rel, abs float64) bool {
	return x == y || x != x && y != y || !math.IsInf(x, 0) && math.Abs(x-y) <= abs+rel*math.Abs(x)
}
