package fxtest

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// Rounding is the error of one rounding to a float type, times four: an operator may round more than once.
var Rounding = map[array.DType]float64{array.F16: 0x1p-9, array.BF16: 0x1p-6, array.F32: 0x1p-21, array.F64: 0x1p-50}

// least are the least normal numbers: devices may take what is smaller for zero.
var least = map[array.DType]float64{array.F16: 0x1p-14, array.BF16: 0x1p-126, array.F32: 0x1p-126, array.F64: 0x1p-1022}

// cancelling are elementwise operators that add numbers of opposite signs, as sums do.
var cancelling = map[string]bool{"gelu": true, "logaddexp": true}

// ToleranceOf is how far a device's result of an operator may be from the expected one, in relation to
// it and beside that: nothing for integers and for what is only moved. See Near.
func ToleranceOf(o *op.Op, want *array.Array) (rel, abs float64) {
	u, float := Rounding[want.DType()]
	if !float || o.Class == op.Movement {
		return 0, 0
	}
	rel, abs = max(o.Tol.Rel, u), max(o.Tol.Abs, least[want.DType()])
	if o.Class != op.Elementwise {
		rel = max(rel, 1e-5)
	}
	if o.Class != op.Elementwise || len(o.In) > 2 || cancelling[o.Name] {
		for k := range want.Len() { // sums of products cancel: errors are relative to what is added
			if x := math.Abs(array.Float64At(want, k)); x <= math.MaxFloat64 {
				abs = max(abs, rel*max(x, 1))
			}
		}
	}
	return rel, abs
}

// Near reports whether y is x within tolerances. Any NaN is another, and infinities have a sign.
func Near(x, y, rel, abs float64) bool {
	return x == y || x != x && y != y || !math.IsInf(x, 0) && math.Abs(x-y) <= abs+rel*math.Abs(x)
}
