package fxtest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gofx-dev/gofx/array"
)

// Same requires results to be equal to the last bit, whatever their layout in
// memory. Any NaN equals any other: which one an operation gives is not defined.
func Same(t testing.TB, what string, want, got []*array.Array) {
	t.Helper()
	if d := SameArrays(want, got); d != "" {
		t.Fatalf("%s: %s", what, d)
	}
}

// SameArrays says how two lists of results differ, "" when they are equal to the
// last bit.
func SameArrays(want, got []*array.Array) string {
	return differ(want, got, SameArray)
}

// differ says how two lists of results differ, each by one.
func differ(want, got []*array.Array, one func(want, got *array.Array) string) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d results, expected %d", len(got), len(want))
	}
	for i := range want {
		if d := one(want[i], got[i]); d != "" {
			return fmt.Sprintf("result %d: %s", i, d)
		}
	}
	return ""
}

// SameArray says how two arrays differ, "" when they are equal to the last bit.
func SameArray(want, got *array.Array) string {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Sprintf("%s%v, expected %s%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	w, g := rowMajor(want), rowMajor(got)
	size := want.DType().Size()
	for k := 0; k < len(w); k += size {
		if bytes.Equal(w[k:k+size], g[k:k+size]) {
			continue
		}
		if x, y := array.Float64At(want, k/size), array.Float64At(got, k/size); want.DType().IsFloat() && x != x && y != y {
			continue
		}
		return fmt.Sprintf("element %d differs: got\n%s\nexpected\n%s", k/size, array.Format(got, 60), array.Format(want, 60))
	}
	return ""
}

// rowMajor returns the elements as bytes.
func rowMajor(a *array.Array) []byte {
	if a.Len() == 0 {
		return nil // an empty view may begin after its storage
	}
	c := array.Contiguous(a)
	size := c.DType().Size()
	return c.Storage().Bytes()[c.Offset()*size : (c.Offset()+c.Len())*size]
}

// closeness is how far results may be apart that round otherwise, for elements of
// about 1: some hundred units in the last place of a sum, of one in 16 bits.
var closeness = map[array.DType]float64{array.F64: 1e-13, array.F32: 1e-5, array.F16: 4e-3, array.BF16: 3e-2}

// Close requires results to be equal up to rounding; see CloseArray.
func Close(t testing.TB, what string, want, got []*array.Array) {
	t.Helper()
	if d := CloseArrays(want, got); d != "" {
		t.Fatalf("%s: %s", what, d)
	}
}

// CloseArrays says how two lists of results differ, "" when they are equal up to
// rounding; see CloseArray.
func CloseArrays(want, got []*array.Array) string {
	return differ(want, got, CloseArray)
}

// CloseArray says how two arrays differ, "" when floats are as close as sums of
// another order can be, measured by the largest element, and everything else is
// equal. Infinities and NaN are in the same places.
func CloseArray(want, got *array.Array) string {
	d := SameArray(want, got)
	if d == "" || got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) || !want.DType().IsFloat() {
		return d
	}
	most := 1.0
	for k := range want.Len() {
		if x := math.Abs(array.Float64At(want, k)); x <= math.MaxFloat64 {
			most = max(most, x)
		}
	}
	for k := range want.Len() {
		x, y := array.Float64At(want, k), array.Float64At(got, k)
		if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= closeness[want.DType()]*most) {
			return d
		}
	}
	return ""
}
