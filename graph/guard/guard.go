package guard

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Guard is a claim about what a program is given.
type Guard interface {
	// String returns the text that Parse reads back.
	String() string
	// Key returns a text that guards have in common which claim the same: A == B and B == A.
	Key() string
	// Symbols returns the names of the sizes that the claim speaks of, sorted.
	Symbols() []string
	// Bind replaces symbols by what env says of them.
	Bind(env func(symbol string) shape.Dim) Guard
	// Check returns the refusal of inputs for which the claim does not hold. It is nil where the
	// claim holds, and where the inputs do not decide it.
	Check(in Inputs) error

	closed()
}

// Inputs are what a program is given, by name.
type Inputs interface {
	// Input returns the type of what an input is given; ok is false where there is no such input.
	Input(name string) (t shape.Type, ok bool)
	// Size returns what a symbol stands for; ok is false where that is not known.
	Size(symbol string) (s diag.SizeOf, ok bool)
}

// Size claims a relation of sizes.
type Size struct{ shape.Relation }

// Type claims that an input has an element type, a rank and sizes. Sizes with symbols, and
// what the type leaves unknown, may be anything: an Entry compares what one symbol makes equal.
type Type struct {
	Input string
	Type  shape.Type
}

func (Size) closed() {}
func (Type) closed() {}

// Key implements Guard. An equality has its smaller side first.
func (s Size) Key() string {
	if a, b := s.A.String(), s.B.String(); s.Rel == shape.EQ && b < a {
		return b + " == " + a
	}
	return s.String()
}

// Key implements Guard.
func (t Type) Key() string { return t.String() }

// String implements Guard.
func (t Type) String() string { return name(t.Input) + ": " + t.Type.String() }

// name is the name of an input as text: in quotes where it is no plain word.
func name(s string) string {
	for i, part := range strings.Split(s, ".") {
		if !shape.ValidSymbol(part) && (i == 0 || part == "" || strings.Trim(part, "0123456789") != "") {
			return strconv.Quote(s)
		}
	}
	return s
}

// Symbols implements Guard.
func (t Type) Symbols() []string {
	var list []string
	for _, d := range t.Type.Dims().Slice() {
		list = append(list, d.Symbols()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Bind implements Guard.
func (s Size) Bind(env func(symbol string) shape.Dim) Guard { return Size{s.Relation.Bind(env)} }

// Bind implements Guard.
func (t Type) Bind(env func(symbol string) shape.Dim) Guard { return Type{t.Input, t.Type.Bind(env)} }

// Check implements Guard.
func (s Size) Check(in Inputs) error {
	for _, symbol := range s.Symbols() {
		if _, ok := in.Size(symbol); !ok {
			return nil
		}
	}
	return Need{Relation: s.Relation}.Check(in)
}

// Check implements Guard.
func (t Type) Check(in Inputs) error {
	got, ok := in.Input(t.Input)
	if !ok {
		return nil
	}
	if err := t.check(typed{got}); err != nil {
		return err
	}
	return nil
}

// check compares what is known of both.
func (t Type) check(got Argument) *diag.Error {
	otherType, otherShape := t.differs(got)
	if !otherType && !otherShape {
		return nil
	}
	e := diag.New(Failed, diag.Misfit(t.Input, got.Type().String(), t.Type.String()))
	if otherType {
		return e.WithHint("cast the input to " + t.Type.DType().String())
	}
	return e.WithHint("capture it again for these sizes, or with symbolic ones")
}

// Fits reports whether a value has the type, as far as both are known.
func (t Type) Fits(v Argument) bool {
	dtype, dims := t.differs(v)
	return !dtype && !dims
}

func (t Type) differs(got Argument) (dtype, dims bool) {
	want, have := t.Type.DType(), got.DType()
	dtype = want != array.Invalid && have != array.Invalid && want != have
	rank := got.Rank()
	if !t.Type.Ranked() || rank < 0 {
		return dtype, false
	}
	if t.Type.Rank() != rank {
		return dtype, true
	}
	for i := range rank {
		w, wanted := t.Type.Dim(i).Int()
		if g, known := got.Size(i).Int(); wanted && known && w != g {
			return dtype, true
		}
	}
	return dtype, false
}

// Parse reads what a guard's String writes. The error is a *diag.Error that names the column.
func Parse(text string) (Guard, error) {
	s := strings.TrimSpace(text)
	if i := colon(s); i >= 0 {
		input := strings.TrimSpace(s[:i])
		if plain, err := strconv.Unquote(input); err == nil {
			input = plain
		} else if input != "" && name(input) != input {
			return nil, diag.New(shape.CodeText, "column 1: found "+strconv.Quote(input)+", expected the name of an input, in quotes where it is no word")
		}
		t, err := shape.ParseType(strings.TrimSpace(s[i+1:]))
		if err != nil {
			return nil, err
		}
		return Type{input, t}, nil
	}
	r, err := shape.ParseRelation(s)
	if err != nil {
		return nil, err
	}
	return Size{r}, nil
}

// colon returns where the colon after the name of an input is, -1 where there is none.
func colon(s string) int {
	from := 0
	if quoted, err := strconv.QuotedPrefix(s); err == nil {
		from = len(quoted)
	}
	if i := strings.IndexByte(s[from:], ':'); i >= 0 {
		return from + i
	}
	return -1
}
