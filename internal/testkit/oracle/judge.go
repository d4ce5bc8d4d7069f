package oracle

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// Judge compares a result with PyTorch's. difference is empty when they agree;
// otherwise excuses are the texts of the record that name it.
func Judge(c Call, r Result, g Golden) (difference string, excuses []string) {
	kind, difference := judge(c, r, g)
	if difference == "" {
		return "", nil
	}
	if r.Panic != "" {
		return difference, nil
	}
	return difference, c.Op.Departs(kind, c.Attrs, c.In)
}

func judge(c Call, r Result, g Golden) (kind op.Departure, difference string) {
	switch {
	case r.Panic != "":
		return 0, "panics: " + r.Panic
	case g.Outcome == Lacks:
		return 0, ""
	case r.Err != nil && (g.Outcome == Refused || g.Outcome == Noted || g.Outcome == Undefined):
		return 0, ""
	case r.Err != nil:
		return op.Refuses, "refused: " + strings.SplitN(r.Err.Error(), "\n", 2)[0]
	case g.Outcome == Refused:
		return op.Extends, "PyTorch refuses: " + g.Text
	case g.Outcome == Undefined:
		return op.Alters, "undefined in PyTorch: " + g.Text
	case len(r.Out) != len(g.Results):
		return op.Alters, fmt.Sprintf("%d results, PyTorch has %d", len(r.Out), len(g.Results))
	}
	for k := range r.Out {
		if d := differ(c, r.Out[k], g, k); d != "" {
			return op.Alters, fmt.Sprintf("result %d: %s", k, d)
		}
	}
	if g.Outcome == Noted {
		return op.Extends, "PyTorch refuses: " + g.Text
	}
	return 0, ""
}

// differ says how a result departs from PyTorch's beyond the operator's tolerance.
// A float that is within the tolerance of PyTorch's result for f64 operands, or no
// farther from that than PyTorch is, is right too; and sums, whose terms nobody
// promises to add in an order, may err by the size of the terms.
func differ(c Call, got *array.Array, g Golden, k int) string {
	o := c.Op
	want := g.Results[k]
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Sprintf("%s, PyTorch has %s", array.Describe(got.DType(), got.Shape()), array.Describe(want.DType(), want.Shape()))
	}
	native, exact, scale := matching(g.Native, g, k), matching(g.Exact, g, k), matching(g.Scale, g, k)
	if !want.DType().IsFloat() {
		if !bytes.Equal(Bytes(got), Bytes(want)) && (native == nil || !bytes.Equal(Bytes(got), Bytes(native))) {
			return "\n" + array.Format(got, 40) + "\nPyTorch has\n" + array.Format(want, 40)
		}
		return ""
	}
	if o.Class == op.Opaque && scale != nil {
		scale = greatest(scale)
	}
	if o.Class == op.Elementwise || o.Class == op.Movement {
		scale = nil
	}
	t, ulps := toleranceOf(o, want.DType()), 0.0
	if scale != nil {
		ulps = 4 * t.unit * c.magnitude()
	}
	if o.Class == op.Elementwise && c.magnitude() > 0 {
		// Small results of operands are right in their own size; f64 has nothing
		// more exact to say so of functions that cancel, such as gelu.
		if t.abs = min(t.abs, 1e-20); want.DType() == array.F64 {
			t.abs = 1e-14
		}
	}
	var shifts []float64
	worst := 0.0
	if exact != nil {
		for i := range want.Len() {
			worst = max(worst, finite(array.Float64At(want, i)-array.Float64At(exact, i)))
		}
	}
	for i := range want.Len() {
		x, w := array.Float64At(got, i), array.Float64At(want, i)
		if t.close(x, w) || native != nil && t.close(x, array.Float64At(native, i)) || scale != nil && t.sum(x, w, array.Float64At(scale, i), ulps) {
			continue
		}
		if exact == nil {
			return fmt.Sprintf("element %d is %v, PyTorch has %v", i, x, w)
		}
		e := array.Float64At(exact, i)
		if o.Class == op.Contraction && math.Abs(x-e) <= min(8*worst, 1e-3*max(1, math.Abs(e))) {
			continue // effect of a chain of functions on errors in sums
		}
		if shifts == nil {
			shifts = c.shifts(k, t.unit/2)
		}
		if shifts != nil && math.Abs(x-e) <= 4*shifts[i] {
			continue
		}
		if rounded := array.Float64At(array.Cast(array.Scalar(e), want.DType()), 0); !t.close(x, rounded) && !(math.Abs(x-e) <= 4*finite(w-e)) {
			return fmt.Sprintf("element %d is %v, PyTorch has %v, exactly %v", i, x, w, e)
		}
	}
	return ""
}

// shifts returns how far each element of result k moves when operands move by a
// rounding, to which no way to compute it can be held: recurrences may amplify a
// rounding a thousandfold. Functions of one or two elements are held to more. It
// returns nil where that, or f64 operands, do not apply.
func (c Call) shifts(k int, rounding float64) []float64 {
	if c.Op.Class != op.Contraction && (c.Op.Class != op.Elementwise || len(c.In) < 3) {
		return nil
	}
	const trials = 4
	var still *array.Array
	var far []float64
	for trial := range trials + 1 {
		moved := c
		moved.In = slices.Clone(c.In)
		for i, a := range c.In {
			if a != nil && a.DType().IsFloat() {
				moved.In[i] = array.Clone(array.Cast(a, array.F64))
				for e := 0; trial > 0 && e < a.Len(); e++ {
					sign := float64((7919*e+31*trial)%3 - 1)
					array.SetFloat64At(moved.In[i], e, array.Float64At(a, e)*(1+sign*rounding))
				}
			}
		}
		r := Eval(moved)
		if r.Err != nil || r.Panic != "" {
			return nil
		}
		if trial == 0 {
			still, far = r.Out[k], make([]float64, r.Out[k].Len())
			continue
		}
		for i := range far {
			far[i] = max(far[i], finite(array.Float64At(r.Out[k], i)-array.Float64At(still, i)))
		}
	}
	return far
}

// finite returns the magnitude of an error, none where it is not finite.
func finite(d float64) float64 {
	if math.IsInf(d, 0) || math.IsNaN(d) {
		return 0
	}
	return math.Abs(d)
}

// greatest returns an array with the greatest element of a everywhere: weights of
// either sign hide how large the terms are.
func greatest(a *array.Array) *array.Array {
	top := math.Inf(-1)
	for i := range a.Len() {
		top = max(top, array.Float64At(a, i)) // NaN if one is
	}
	return array.Expand(array.Scalar(top), a.Shape()...)
}

// matching returns array k of a second computation if it can be compared.
func matching(all []*array.Array, g Golden, k int) *array.Array {
	if len(all) != len(g.Results) || all[k].DType().IsFloat() != g.Results[k].DType().IsFloat() || !slices.Equal(all[k].Shape(), g.Results[k].Shape()) {
		return nil
	}
	return all[k]
}

// magnitude returns the greatest finite element of the float operands.
func (c Call) magnitude() (top float64) {
	for _, a := range c.In {
		if a == nil || !a.DType().IsFloat() {
			continue
		}
		for i := range a.Len() {
			if v := math.Abs(array.Float64At(a, i)); v > top && !math.IsInf(v, 0) {
				top = v
			}
		}
	}
	return top
}

// tolerance bounds the difference that is allowed; max and unit are the greatest
// number and the spacing after 1 of the element type.
type tolerance struct{ rel, abs, max, unit float64 }

func toleranceOf(o *op.Op, d array.DType) tolerance {
	t := tolerance{rel: o.Tol.Rel, abs: o.Tol.Abs, max: math.MaxFloat64, unit: 0x1p-52}
	if o.Class != op.Movement && t.rel == 0 && t.abs == 0 {
		t.rel, t.abs = 1e-5, 1e-5
	}
	switch d {
	case array.F16:
		t.max, t.unit = 65504, 0x1p-10
		t.rel = max(t.rel, 0x1p-10)
	case array.BF16:
		t.max, t.unit = math.MaxFloat32, 0x1p-7
		t.rel = max(t.rel, 0x1p-7)
	case array.F32:
		t.max, t.unit = math.MaxFloat32, 0x1p-23
	}
	if o.Class == op.Movement {
		t.rel = 0
	}
	return t
}

func (t tolerance) close(x, w float64) bool {
	if math.IsInf(w, 0) || math.IsNaN(w) { // of which no share is a tolerance
		return x == w || math.IsNaN(x) && math.IsNaN(w)
	}
	return math.Abs(x-w) <= t.abs+t.rel*math.Abs(w)
}

// sum compares sums of terms of that size; partial sums may overflow, and operands
// that cancel leave only their last bits.
func (t tolerance) sum(x, w, size, ulps float64) bool {
	if math.Abs(x-w) <= t.rel*size+ulps {
		return true
	}
	const terms = 1 << 12 // of which a mean may be
	return !(size <= t.max/terms) && !(math.Abs(x) <= t.max && math.Abs(w) <= t.max)
}
