package certificate

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Tolerance says how far elements may be from the expected ones:
// |got - want| <= Abs + Rel*|want|. NaN is expected where NaN is, and infinities where
// they are.
type Tolerance struct {
	Abs float64 `json:"abs"`
	Rel float64 `json:"rel"`
}

// Output is an expected result.
type Output struct {
	DType   array.DType
	Shape   []int
	Allowed Tolerance
	// Reached is how far the plan was from it when the code was generated: the largest
	// difference, and the largest of those of elements that are not small, relative to
	// the element.
	Reached Tolerance

	picked *array.Array // all elements, or mostStored of them
	sums   *array.Array // of the runs, nil where all elements are stored
}

const (
	mostStored = 4096
	runs       = 256 // of elements, with a row of sums each
	sumColumns = 3   // the finite elements' sum, that of their magnitudes, and their number
)

// Expect makes an output of expected values. Its tolerance is that of its type and its
// largest element, and a least one where all elements are 0.
func Expect(a *array.Array) Output {
	out := Output{DType: a.DType(), Shape: sizes(a.Shape()), picked: array.Contiguous(a), Allowed: allowance(a)}
	if n := a.Len(); n > mostStored {
		out.picked, out.sums = pick(a), sums(a)
	}
	return out
}

// Stored are the elements of the output that are stored: all, or a selection.
func (o *Output) Stored() *array.Array { return o.picked }

// allowances are the tolerances of float types, Abs of an output whose largest magnitude
// is 1. Other processors, which add in another order, may need them.
var allowances = map[array.DType]Tolerance{
	array.F64: {Abs: 1e-10, Rel: 1e-8}, array.F32: {Abs: 1e-4, Rel: 1e-3}, array.F16: {Abs: 1e-2, Rel: 2e-2}, array.BF16: {Abs: 4e-2, Rel: 5e-2},
}

func allowance(a *array.Array) Tolerance {
	t := allowances[a.DType()]
	largest := 0.0
	for i := range a.Len() {
		if v := math.Abs(array.Float64At(a, i)); !math.IsInf(v, 0) && v > largest {
			largest = v
		}
	}
	if t.Abs *= largest; largest == 0 {
		t.Abs = floors[a.DType()]
	}
	return t
}

// pick is mostStored elements at equal distances, the first and the last among them.
func pick(a *array.Array) *array.Array {
	p := array.New(a.DType(), mostStored)
	for i := range mostStored {
		array.SetFloat64At(p, i, array.Float64At(a, place(i, a.Len())))
	}
	return p
}

// place is where picked element i is among n.
func place(i, n int) int { return int(float64(i) * (float64(n-1) / (mostStored - 1))) }

// sums are those of the runs that a's elements are divided into.
func sums(a *array.Array) *array.Array {
	s := array.New(array.F64, runs, sumColumns)
	for r := range runs {
		var sum, magnitude, finite float64
		for i := start(r, a.Len()); i < start(r+1, a.Len()); i++ {
			if v := array.Float64At(a, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
				sum, magnitude, finite = sum+v, magnitude+math.Abs(v), finite+1
			}
		}
		for c, v := range [sumColumns]float64{sum, magnitude, finite} {
			array.SetFloat64At(s, r*sumColumns+c, v)
		}
	}
	return s
}

// start is where run r of n elements begins.
func start(r, n int) int { return n/runs*r + min(r, n%runs) }

// Compare returns how far a result is from the output. The error, of code FX8059, says
// where it is further than allowed.
func (o *Output) Compare(got *array.Array) (reached Tolerance, err error) {
	if got == nil {
		return reached, differs("is nothing, expected " + o.typeText())
	}
	if got.DType() != o.DType || !slices.Equal(got.Shape(), o.Shape) {
		return reached, differs("is " + shape.TypeOf(got).String() + ", expected " + o.typeText())
	}
	if reached, err = o.elements(got); err != nil || o.sums == nil {
		return reached, err
	}
	return reached, o.compareSums(got)
}

func (o *Output) typeText() string {
	return shape.TensorType(o.DType, shape.ConstDims(o.Shape...)).String()
}

// elements compares the elements that are stored.
func (o *Output) elements(got *array.Array) (reached Tolerance, err error) {
	n := o.picked.Len()
	small := 0.0 // below it differences are not measured relative to the element
	if o.Allowed.Rel > 0 {
		small = o.Allowed.Abs / o.Allowed.Rel
	}
	for i := range n {
		at := i
		if o.sums != nil {
			at = place(i, got.Len())
		}
		a, b := array.Float64At(got, at), array.Float64At(o.picked, i)
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		diff := math.Abs(a - b)
		if !(diff <= o.Allowed.Abs+o.Allowed.Rel*math.Abs(b)) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return reached, differs("differs: element " + strconv.Itoa(at) + " is " + number(a) + ", expected " + number(b))
		}
		reached.Abs = max(reached.Abs, diff)
		if math.Abs(b) > small {
			reached.Rel = max(reached.Rel, diff/math.Abs(b))
		}
	}
	return reached, nil
}

// compareSums compares all elements by the sums of their runs.
func (o *Output) compareSums(got *array.Array) error {
	have := sums(got)
	for r := range runs {
		row := func(a *array.Array, column int) float64 { return array.Float64At(a, r*sumColumns+column) }
		what := "elements " + strconv.Itoa(start(r, got.Len())) + " to " + strconv.Itoa(start(r+1, got.Len())-1)
		if row(have, 2) != row(o.sums, 2) {
			return differs("differs: " + number(row(have, 2)) + " of " + what + " are finite, expected " + number(row(o.sums, 2)))
		}
		allowed := o.Allowed.Abs*row(o.sums, 2) + o.Allowed.Rel*row(o.sums, 1)
		// Integers beyond 2^53 have sums that are rounded, whatever the order.
		allowed += row(o.sums, 1) * 0x1p-40
		for c := range 2 {
			if a, b := row(have, c), row(o.sums, c); !(math.Abs(a-b) <= allowed) {
				return differs("differs: the sum of " + []string{"", "the magnitudes of "}[c] + what + " is " + number(a) + ", expected " + number(b))
			}
		}
	}
	return nil
}

// differs is an error of a result.
func differs(msg string) *diag.Error {
	return diag.New(Differs, msg).WithHint("check that the samples belong to the model and its weights; else report it")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
