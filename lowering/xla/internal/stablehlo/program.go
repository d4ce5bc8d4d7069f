package stablehlo

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Type is a ranked tensor type of static sizes.
type Type struct {
	Elem array.DType
	Dims []int
}

// Of returns the tensor type of the element type and sizes.
func Of(d array.DType, dims ...int) Type { return Type{d, dims} }

// Rank returns the number of dimensions.
func (t Type) Rank() int { return len(t.Dims) }

// Len returns the number of elements.
func (t Type) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// Equal reports whether element types and sizes agree.
func (t Type) Equal(u Type) bool { return t.Elem == u.Elem && slices.Equal(t.Dims, u.Dims) }

// With returns the type with other sizes.
func (t Type) With(dims ...int) Type { return Type{t.Elem, dims} }

// As returns the type with another element type.
func (t Type) As(d array.DType) Type { return Type{d, t.Dims} }

// String returns MLIR's text: tensor<2x3xf32>.
func (t Type) String() string {
	s := "tensor<"
	for _, d := range t.Dims {
		s += strconv.Itoa(d) + "x"
	}
	return s + ElemName(t.Elem) + ">"
}

var elemNames = map[array.DType]string{
	array.F32: "f32", array.F64: "f64", array.F16: "f16", array.BF16: "bf16",
	array.I8: "i8", array.I16: "i16", array.I32: "i32", array.I64: "i64",
	array.U8: "ui8", array.U16: "ui16", array.U32: "ui32", array.U64: "ui64", array.Bool: "i1",
}

// ElemName returns MLIR's name of an element type, "" where programs do not have it.
func ElemName(d array.DType) string { return elemNames[d] }

func parseElem(name string) (array.DType, bool) {
	for d, s := range elemNames {
		if s == name {
			return d, true
		}
	}
	return array.Invalid, false
}

// Value is what an operation gives, or a region takes. Identity is the pointer.
type Value struct{ Type Type }

// Op is one operation.
type Op struct {
	Name     string // without the dialect: "add"; "return" ends regions and functions
	Operands []*Value
	Attrs    []Attr // sorted by name
	Regions  []*Region
	Results  []*Value
}

// Attr is a named attribute.
type Attr struct {
	Name  string
	Value Attribute
}

// Get returns an attribute, nil where the operation does not have it.
func (o *Op) Get(name string) Attribute {
	for _, a := range o.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// Int returns an integer attribute, 0 where there is none.
func (o *Op) Int(name string) int {
	v, _ := o.Get(name).(Int)
	return int(v)
}

// Ints returns a list attribute, nil where there is none.
func (o *Op) Ints(name string) []int {
	v, _ := o.Get(name).(Ints)
	return v
}

// Region is a list of operations over its arguments; the last is a return.
type Region struct {
	Args []*Value
	Ops  []*Op
}

// Returned returns the operands of the return that ends the region.
func (r *Region) Returned() []*Value {
	if len(r.Ops) == 0 {
		return nil
	}
	return r.Ops[len(r.Ops)-1].Operands
}

// Program is a module of one function, main.
type Program struct {
	Name string
	Main *Region
	// Partitions share a run, each with the part of main's arguments that Shardings say,
	// in XLA's notation, one for each. 0 and nil: the program is not sharded.
	Partitions int
	Shardings  []string
	// Donated are the arguments whose memory a run may make its results in; nil: none.
	Donated []bool
	// ResultShardings are those of main's results, or nil.
	ResultShardings []string
}

// Results returns the types that main returns.
func (p *Program) Results() []Type { return types(p.Main.Returned()) }

func types(list []*Value) []Type {
	var t []Type
	for _, v := range list {
		t = append(t, v.Type)
	}
	return t
}
