package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// acosRef keeps the digits near 1 that math.Acos loses.
func acosRef(x float64) float64 {
	if x > 0.5 {
		return 2 * math.Asin(math.Sqrt((1-x)/2))
	}
	return math.Acos(x)
}

// TestInversesAndHyperbolic holds the functions to a few units in the last place over
// all magnitudes, where the simple formulas lose digits or overflow.
func TestInversesAndHyperbolic(t *testing.T) {
	var small, wide, above []float64
	for e := -120.0; e <= 0; e += 0.37 {
		small = append(small, math.Exp2(e), -math.Exp2(e), 1-math.Exp2(e), math.Exp2(e)-1)
	}
	for e := -120.0; e <= 120; e += 0.37 {
		wide = append(wide, math.Exp2(e), -math.Exp2(e))
		above = append(above, 1+math.Exp2(e))
	}
	wide = append(wide, 87, 88.5, 89.2, -89.2, 63.9, 64, 65)
	for _, c := range []struct {
		o  *op.Op
		f  func(float64) float64
		of []float64
	}{
		{Asin, math.Asin, small}, {Acos, acosRef, small}, {Atanh, math.Atanh, small},
		{Sinh, math.Sinh, wide}, {Cosh, math.Cosh, wide}, {Asinh, math.Asinh, wide}, {Acosh, math.Acosh, above},
	} {
		for _, x := range c.of {
			x = float64(float32(x))
			got := array.Float64At(eval(t, c.o, nil, array.Scalar(float32(x))), 0)
			want := float32(c.f(x))
			if float64(want) != got { // infinities among them
				unit := math.Abs(float64(math.Nextafter32(want, 0) - want))
				require.LessOrEqual(t, math.Abs(got-float64(want)), 4*unit, "%s(%v) is %v, expected %v", c.o.Name, x, got, want)
			}
			got = array.Float64At(eval(t, c.o, nil, array.Scalar(x)), 0)
			if exact := c.f(x); exact != got {
				unit := math.Abs(math.Nextafter(exact, 0) - exact)
				require.LessOrEqual(t, math.Abs(got-exact), 8*unit, "%s(%v) is %v, expected %v", c.o.Name, x, got, exact)
			}
		}
	}
	for _, o := range []*op.Op{Asin, Sinh, Asinh, Atanh} {
		y := eval(t, o, nil, array.Scalar(float32(math.Copysign(0, -1))))
		require.True(t, math.Signbit(array.Float64At(y, 0)), "%s(-0)", o.Name)
	}
}
