package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Form is one spelling of an operator in Go.
type Form uint8

// The forms. An operator has Plain, and those of the others that Of lists.
const (
	Plain   Form = iota // tensor.Sub(x, other), x.Sub(other)
	Number              // tensor.SubScalar(x, v), x.SubScalar(v): the attribute Other stands for the operand
	Swapped             // tensor.RSubScalar(x, v), x.RSubScalar(v): the attribute Reverse is set too
	With                // tensor.SumWith(x, dim, attrs), x.SumWith(dim, attrs): the options next to a list that Plain takes as its tail
)

// Kind is the Go type of a parameter.
type Kind uint8

// The kinds of parameters.
const (
	Tensor  Kind = iota // *Tensor
	Tensors             // []*Tensor or ...*Tensor
	Bool
	Int
	Float
	String
	DType
	Ints   // ...int, or any where it is not the tail: an int or a []int
	Floats // []float64 or ...float64
	Scalar // any Go number
	Dim    // any: an int or a Size
	Dims   // ...any: ints and Sizes, or any where it is not the tail: one of them or a list
)

// Param is one parameter of a function.
type Param struct {
	Name     string // Go identifier
	Operand  string // name of the operand, "" for attributes
	Field    string // Go name of the attribute's field, "" for operands
	Kind     Kind
	Optional bool     // the operand may be nil
	Each     bool     // a list that is one argument where options follow
	Variadic bool     // ...T
	Enum     []string // the legal strings
}

// Func is one Go function of package tensor. Without Params[0] it is the method
// of the same name on that tensor, when Method is set.
type Func struct {
	Op      *op.Op
	Form    Form
	Name    string // Go name
	Params  []Param
	Options []string // Go names of the fields that the trailing attributes struct sets
	Method  bool     // there is a method as well
	InPlace string   // name of the in-place method, "" for none
	Results []string // names of several results; nil for one tensor
	List    bool     // the result is []*Tensor
}

// AttrsType returns the name of the attributes struct in package std, "" for
// operators without attributes.
func (f *Func) AttrsType() string { return attrsType(f.Op) }

func attrsType(o *op.Op) string {
	if t := o.Codec().GoType(); t != reflect.TypeFor[op.None]() {
		return t.Name()
	}
	return ""
}

// Ops returns the operators that package tensor has functions for: those of
// op/std, sorted by name.
func Ops() []*op.Op {
	return slices.DeleteFunc(op.All(), func(o *op.Op) bool { return o.Path != "" || o.AdHoc || o.Structural() })
}

// Of returns the functions of an operator; the plain form comes first.
//
// Attributes that the record marks as arguments are positional in every form. A list
// that comes last is the variadic tail: x.Sum(2, 3). Where the operator has options
// too, they cannot follow a tail, and the form With takes both: x.SumWith(-1, attrs). A
// list that the record marks as one for each dimension is no tail where options follow.
func Of(o *op.Op) []*Func {
	forms := []Form{Plain}
	if numberOperand(o) >= 0 {
		forms = append(forms, Number)
		if _, ok := o.Codec().GoType().FieldByName("Reverse"); ok {
			forms = append(forms, Swapped)
		}
	}
	var out []*Func
	for _, form := range forms {
		f := newFunc(o, form)
		out = append(out, f)
		if with := f.tail(); with != nil {
			out = append(out, with)
		}
	}
	return out
}

// tail makes the last parameter variadic if it is a list. It returns the form with
// options, nil when f has none or they can follow.
func (f *Func) tail() *Func {
	last := len(f.Params) - 1
	if last < 0 || !f.Params[last].isList() || len(f.Options) > 0 && (f.Params[last].Field == "" || f.Params[last].Each) {
		return nil
	}
	var with *Func
	if len(f.Options) > 0 {
		w := *f
		w.Form, w.Name, w.InPlace = With, f.Name+"With", ""
		with = &w
		f.Options = nil
		f.Params = slices.Clone(f.Params)
	}
	f.Params[last].Variadic = true
	return with
}

// numberOperand returns the index of the operand that the attribute Other may
// stand for, -1 when there is none.
func numberOperand(o *op.Op) int {
	f, ok := o.Codec().GoType().FieldByName("Other")
	if !ok || f.Type != reflect.TypeFor[op.Scalar]() {
		return -1
	}
	return slices.IndexFunc(o.In, func(a op.Operand) bool { return a.Name == "other" && a.Optional })
}

func newFunc(operator *op.Op, form Form) *Func {
	fn := &Func{Op: operator, Form: form, Name: goname.Upper(operator.Name)}
	number := numberOperand(operator)
	for i, in := range operator.In {
		p := Param{Name: in.Name, Operand: in.Name, Kind: Tensor, Optional: in.Optional && i != number}
		if in.Variadic {
			p.Kind = Tensors
		}
		if i == number && form != Plain {
			p = Param{Name: "v", Field: "Other", Kind: Scalar}
		}
		fn.Params = append(fn.Params, p)
	}
	fn.attributes(number >= 0)
	switch form {
	case Number:
		fn.Name += "Scalar"
	case Swapped:
		fn.Name = "R" + fn.Name + "Scalar"
	}
	fn.Method = len(operator.In) > 0 && !operator.In[0].Variadic
	if operator.InPlace && form != Swapped {
		fn.InPlace = fn.Name + "InPlace"
	}
	fn.results()
	fn.identifiers()
	return fn
}

// attributes adds the positional attributes to the parameters and the others to
// the options.
func (f *Func) attributes(number bool) {
	c := f.Op.Codec()
	for _, a := range c.Fields(c.Zero()) {
		switch {
		case number && (a.GoName == "Other" || a.GoName == "Reverse"):
		case a.Arg:
			f.Params = append(f.Params, Param{Name: goname.Lower(a.GoName), Field: a.GoName, Kind: KindOf(a.Value), Enum: a.Enum, Each: a.Each})
		default:
			f.Options = append(f.Options, a.GoName)
		}
	}
}

// KindOf returns the kind of the parameter for an attribute of that value's type.
func KindOf(v any) Kind {
	switch v.(type) {
	case bool:
		return Bool
	case int:
		return Int
	case float64:
		return Float
	case string:
		return String
	case array.DType:
		return DType
	case op.Ints:
		return Ints
	case op.Floats:
		return Floats
	case op.Scalar:
		return Scalar
	case shape.Dim:
		return Dim
	}
	return Dims
}

// isList reports whether the parameter is a list.
func (p Param) isList() bool {
	switch p.Kind {
	case Tensors, Ints, Floats, Dims:
		return true
	}
	return false
}

func (f *Func) results() {
	switch r := f.Op.Results; {
	case len(r) == 1 && r[0] == "...":
		f.List = true
	default:
		f.Results = slices.Clone(r)
	}
}

// reserved are the names that a generated body uses itself.
var reserved = []string{"attrs", "opts", "sized", "res", "std", "op", "array", "any", "bool", "int", "float64", "string", "nil",
	"break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if",
	"import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var"}

// identifiers makes the names of parameters and results distinct Go identifiers.
func (f *Func) identifiers() {
	used := slices.Clone(reserved)
	fresh := func(name string, suffix string) string {
		name = goname.Lower(name)
		for slices.Contains(used, name) {
			name += suffix
		}
		used = append(used, name)
		return name
	}
	for i := range f.Params {
		p := &f.Params[i]
		suffix := "Value"
		if p.Operand != "" {
			suffix = "Tensor"
		}
		p.Name = fresh(p.Name, suffix)
	}
	for i, r := range f.Results {
		f.Results[i] = fresh(r, "Out")
	}
}

// Cleared returns the fields of the attributes struct that a form leaves zero
// whatever the options say.
func (f *Func) Cleared() []string {
	if numberOperand(f.Op) < 0 {
		return nil
	}
	var out []string
	if f.Form == Plain || f.Form == With {
		out = append(out, "Other")
	}
	if _, ok := f.Op.Codec().GoType().FieldByName("Reverse"); ok && f.Form != Swapped {
		out = append(out, "Reverse")
	}
	return out
}

// Notes says what the types of the parameters do not: which operands may be nil,
// which strings are legal, what kinds of sizes and numbers are taken, what the
// options hold. It is "" when there is nothing to say.
func (f *Func) Notes() string {
	var parts []string
	if nils := f.paramNames(func(p Param) bool { return p.Optional }); nils != "" {
		parts = append(parts, nils+" may be nil.")
	}
	if sizes := f.paramNames(func(p Param) bool { return p.Kind == Dim }); sizes != "" {
		parts = append(parts, sizes+" may be "+numbers(sizes, "an int or a [Size].", "ints or [Size] values."))
	}
	if scalars := f.paramNames(func(p Param) bool { return p.Kind == Scalar && p.Field != "Other" }); scalars != "" {
		parts = append(parts, scalars+numbers(scalars, " is a Go number or bool, or nil for none.", " are Go numbers or bools, or nil for none."))
	}
	for _, p := range f.Params {
		switch {
		case p.Kind == Dims && p.Variadic:
			parts = append(parts, p.Name+" are ints and [Size] values, or one list of them.")
		case p.Kind == Dims:
			parts = append(parts, p.Name+" is a list of ints or [Size] values, or a single one.")
		case p.Kind == Ints && !p.Variadic:
			parts = append(parts, p.Name+" is an int or a list of them; nil is the empty list.")
		case p.Enum != nil:
			parts = append(parts, p.Name+" is "+OneOf(p.Enum)+".")
		}
	}
	if f.Form == With {
		parts = append(parts, "attrs sets "+and(f.Options)+".")
	} else if len(f.Options) > 0 {
		parts = append(parts, "The optional ["+f.AttrsType()+"], at most one, sets "+and(f.Options)+".")
	}
	if len(f.Options) > 0 {
		for _, a := range f.Op.Codec().Fields(f.Op.Codec().Zero()) {
			if !a.Arg && a.Enum != nil {
				parts = append(parts, a.GoName+" may be "+OneOf(a.Enum)+".")
			}
		}
	}
	return strings.Join(parts, " ")
}

func (f *Func) paramNames(want func(Param) bool) string {
	var names []string
	for _, p := range f.Params {
		if want(p) {
			names = append(names, p.Name)
		}
	}
	return and(names)
}

func numbers(names, one, many string) string {
	if strings.ContainsAny(names, " ") {
		return many
	}
	return one
}

// OneOf lists legal strings for a sentence: "a", "b" or "c", in quotes.
func OneOf(enum []string) string {
	quoted := make([]string, len(enum))
	for i, e := range enum {
		quoted[i] = `"` + e + `"`
	}
	return list(quoted, " or ")
}

func and(names []string) string { return list(names, " and ") }

func list(names []string, word string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + word + names[last]
}
