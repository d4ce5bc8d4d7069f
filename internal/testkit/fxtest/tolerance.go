package fxtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// Tolerance bounds how far values may be off: the largest absolute difference,
// and the L2 norm of the difference over that of the expected values.
type Tolerance struct {
	MaxAbs float64 `json:"max_abs"`
	L2Rel  float64 `json:"l2_rel"`
}

// String returns both bounds.
func (t Tolerance) String() string {
	return fmt.Sprintf("max_abs %.3g, l2_rel %.3g", t.MaxAbs, t.L2Rel)
}

// Difference is how far values are off.
type Difference struct {
	MaxAbs, L2Rel float64
	At            int // flat index of the largest difference
	Got, Want     float64
}

// String returns the difference and where it is largest.
func (d Difference) String() string {
	return fmt.Sprintf("max_abs %.3g at element %d (%g, expected %g), l2_rel %.3g", d.MaxAbs, d.At, d.Got, d.Want, d.L2Rel)
}

// Within reports whether the difference is inside both bounds; NaN never is.
func (d Difference) Within(t Tolerance) bool { return d.MaxAbs <= t.MaxAbs && d.L2Rel <= t.L2Rel }

// Compare measures how far got is from want, element by element in row-major
// order. Equal infinities and two NaN count as no difference; different numbers
// of elements are infinitely far.
func Compare(got, want *array.Array) Difference {
	if got.Len() != want.Len() {
		return Difference{MaxAbs: math.Inf(1), L2Rel: math.Inf(1)}
	}
	var d Difference
	var diff2, want2 float64
	for i := range want.Len() {
		g, w := array.Float64At(got, i), array.Float64At(want, i)
		if g == w || g != g && w != w {
			if !math.IsInf(w, 0) && w == w {
				want2 += w * w
			}
			continue
		}
		e := math.Abs(g - w)
		if e != e {
			e = math.Inf(1)
		}
		diff2 += e * e
		want2 += w * w
		if e > d.MaxAbs {
			d.MaxAbs, d.At, d.Got, d.Want = e, i, g, w
		}
	}
	if diff2 > 0 {
		d.L2Rel = math.Sqrt(diff2) / math.Sqrt(want2)
	}
	return d
}

// Stats returns mean, population standard deviation and L2 norm in float64.
func Stats(a *array.Array) (mean, std, l2 float64) {
	n := float64(a.Len())
	var sum, sum2 float64
	for i := range a.Len() {
		v := array.Float64At(a, i)
		sum += v
		sum2 += v * v
	}
	mean = sum / n
	var dev float64
	for i := range a.Len() {
		v := array.Float64At(a, i) - mean
		dev += v * v
	}
	return mean, math.Sqrt(dev / n), math.Sqrt(sum2)
}

// Diverges reports how a stage's output departs from the reference, "" when it
// does not: std and L2 within rel, the mean within rel of std.
func (s Stage) Diverges(a *array.Array, rel float64) string {
	if !slices.Equal(a.Shape(), s.Shape) {
		return fmt.Sprintf("stage %s has the shape %v, expected %v", s.Module, a.Shape(), s.Shape)
	}
	mean, std, l2 := Stats(a)
	if ok := math.Abs(mean-s.Mean) <= rel*s.Std && math.Abs(std-s.Std) <= rel*s.Std && math.Abs(l2-s.L2) <= rel*s.L2; !ok {
		return fmt.Sprintf("stage %s has mean %g, std %g, l2 %g, expected %g, %g, %g", s.Module, mean, std, l2, s.Mean, s.Std, s.L2)
	}
	return ""
}
