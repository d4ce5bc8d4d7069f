package op

import (
	"math"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

// Departure is a way in which an operator departs from PyTorch's.
type Departure uint8

// The departures.
const (
	Extends Departure = iota // computes what PyTorch refuses
	Refuses                  // refuses what PyTorch computes
	Alters                   // has another result, or one where PyTorch's is undefined

	// Those of the gradient, of calls whose results agree.
	GradExtends // differentiates what PyTorch does not
	GradRefuses // refuses to differentiate what PyTorch does
	GradAlters  // has another derivative
)

// String says what the operator does, as the documentation begins the sentence.
func (d Departure) String() string {
	return [...]string{"computes what PyTorch refuses", "refuses what PyTorch computes", "differs from PyTorch",
		"differentiates what PyTorch does not", "refuses to differentiate what PyTorch does", "has another derivative than PyTorch"}[d]
}

// Difference is one deliberate departure from PyTorch: docs/ops.md has the text,
// and the comparison with PyTorch lets it excuse exactly the calls that When tells.
type Difference[A any] struct {
	Kind Departure
	Text string // the rest of the sentence that Kind begins, without a full stop
	// When reports whether a call with these attributes and operands (nil for
	// absent ones) is one of those meant; nil means all.
	When func(a A, in []*array.Array) bool
}

// NamedDifference is a Difference for readers.
type NamedDifference struct {
	Kind Departure
	Text string
}

// Differences lists how the operator deliberately departs from PyTorch, besides
// what Everywhere lists.
func (o *Op) Differences() []NamedDifference { return named(o.differs) }

func named(all []Difference[any]) []NamedDifference {
	out := make([]NamedDifference, len(all))
	for i, d := range all {
		out[i] = NamedDifference{d.Kind, d.Text}
	}
	return out
}

// everywhere are the differences of all operators.
var everywhere = []Difference[any]{
	{Refuses, "calls with an operand without elements that it refuses with elements, which PyTorch does not look at in many places", func(_ any, in []*array.Array) bool {
		return slices.ContainsFunc(in, func(a *array.Array) bool { return a != nil && a.Len() == 0 })
	}},
	{Refuses, "sizes and settings beyond 32 bits", func(attrs any, _ []*array.Array) bool { return beyond32(attrs) }},
}

// beyond32 reports whether an integer of the attributes takes more than 32 bits.
func beyond32(attrs any) bool {
	large := func(n int) bool { return n < -math.MaxInt32 || n > math.MaxInt32 }
	dim := func(d shape.Dim) bool {
		n, ok := d.Int()
		return ok && large(n)
	}
	v := reflect.ValueOf(attrs)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case int:
			if large(f) {
				return true
			}
		case Ints:
			if slices.ContainsFunc(f.Slice(), large) {
				return true
			}
		case shape.Dim:
			if dim(f) {
				return true
			}
		case shape.Dims:
			if slices.ContainsFunc(f.Slice(), dim) {
				return true
			}
		}
	}
	return false
}

// Everywhere lists how all operators deliberately depart from PyTorch.
func Everywhere() []NamedDifference { return named(everywhere) }

// Departs returns the texts of the differences of a kind that a call falls under.
// Absent operands at the end may be left out.
func (o *Op) Departs(kind Departure, attrs any, in []*array.Array) (texts []string) {
	attrs = orZero(o, attrs)
	if !o.Variadic() {
		in = append(slices.Clone(in), make([]*array.Array, max(len(o.In)-len(in), 0))...)
	}
	for _, d := range slices.Concat(o.differs, everywhere) {
		if d.Kind == kind && (d.When == nil || d.When(attrs, in)) {
			texts = append(texts, d.Text)
		}
	}
	return texts
}

// rounded is the difference of what is composed of other operators.
var rounded = Difference[any]{Alters, "f16 and bf16 are rounded after each of the operators that this one is composed of", func(_ any, in []*array.Array) bool {
	return slices.ContainsFunc(in, func(a *array.Array) bool { return a != nil && (a.DType() == array.F16 || a.DType() == array.BF16) })
}}

// erase forgets the type of the attributes.
func erase[A any](all []Difference[A]) []Difference[any] {
	out := make([]Difference[any], len(all))
	for i, d := range all {
		out[i] = Difference[any]{Kind: d.Kind, Text: d.Text}
		if d.When != nil {
			out[i].When = func(a any, in []*array.Array) bool { return d.When(a.(A), in) }
		}
	}
	return out
}
