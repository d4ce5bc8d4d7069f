package stablehlo

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// Type is a ranked tensor type.
type Type struct {
	Elem array.DType
	Dims []int
	// Bounded says of which dimensions the size is only the greatest that a run may have;
	// nil of none.
	Bounded []bool
}

// Of returns the tensor type of the element type and sizes.
func Of(d array.DType, dims ...int) Type { return Type{Elem: d, Dims: dims} }

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

// Equal reports whether element types and sizes agree, and what of these are bounds.
func (t Type) Equal(u Type) bool {
	for i := range t.Dims {
		if t.Rank() != u.Rank() || t.Bound(i) != u.Bound(i) {
			return false
		}
	}
	return t.Elem == u.Elem && slices.Equal(t.Dims, u.Dims)
}

// Bound reports whether the size of a dimension is a bound.
func (t Type) Bound(i int) bool { return i < len(t.Bounded) && t.Bounded[i] }

// IsBounded reports whether some size is a bound.
func (t Type) IsBounded() bool { return slices.Contains(t.Bounded, true) }

// With returns the type with other sizes, none of them a bound.
func (t Type) With(dims ...int) Type { return Type{Elem: t.Elem, Dims: dims} }

// As returns the type with another element type.
func (t Type) As(d array.DType) Type { return Type{d, t.Dims, t.Bounded} }

// String returns MLIR's text: tensor<2x3xf32>, or tensor<?x3xf32, #stablehlo.bounds<2, ?>>.
func (t Type) String() string {
	s, bounds := "tensor<", []string{}
	for i, d := range t.Dims {
		n := strconv.Itoa(d)
		if t.Bound(i) {
			s, bounds = s+"?x", append(bounds, n)
		} else {
			s, bounds = s+n+"x", append(bounds, "?")
		}
	}
	s += ElemName(t.Elem)
	if t.IsBounded() {
		s += ", #stablehlo.bounds<" + strings.Join(bounds, ", ") + ">"
	}
	return s + ">"
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
type Value struct {
	Type Type
	from *Op // of a Builder; nil for arguments and for values that were read
}

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

// SortDim returns the dimension of a sort, which may be counted from the last one: -1 is that.
func (o *Op) SortDim() int {
	d := o.Int("dimension")
	if d < 0 {
		d += o.Operands[0].Type.Rank()
	}
	return d
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

// Prune drops operations of which nothing uses a result: none has an effect. It tells of each
// that there was whether it stays.
func (r *Region) Prune() []bool { return r.prune(map[*Value]bool{}) }

func (r *Region) prune(used map[*Value]bool) []bool {
	stays := make([]bool, len(r.Ops))
	for i, o := range slices.Backward(r.Ops) {
		stays[i] = o.Name == "return" || slices.ContainsFunc(o.Results, func(v *Value) bool { return used[v] })
		if !stays[i] {
			continue
		}
		for _, v := range o.Operands {
			used[v] = true
		}
		for _, inner := range o.Regions {
			inner.prune(used)
		}
	}
	var list []*Op
	for i, o := range r.Ops {
		if stays[i] {
			list = append(list, o)
		}
	}
	r.Ops = list
	return stays
}

// Module is a module of one function, main.
type Module struct {
	Name string
	Main *Region
	// Partitions share a run, each with the part of main's arguments that Shardings say,
	// in XLA's notation, one for each. 0 and nil: the program is not sharded.
	Partitions int
	Shardings  []string
	// Donated are the arguments whose memory a run may make its results in; nil: none.
	Donated []bool
	// Aliases say in which arguments results are made: by argument 1 + the result, 0 for none; nil: in none. Such an
	// argument is not Donated, too.
	Aliases []int
	// ResultShardings are those of main's results, or nil.
	ResultShardings []string
}

// Alias has a result made in the memory of an argument.
func (p *Module) Alias(arg, result int) {
	if p.Aliases == nil {
		p.Aliases = make([]int, len(p.Main.Args))
	}
	p.Aliases[arg] = result + 1
	if p.Donated != nil {
		p.Donated[arg] = false
	}
}

// Sized reports whether sizes within the program are only bounded.
func (p *Module) Sized() bool {
	return slices.ContainsFunc(p.Main.Ops, func(o *Op) bool { return o.Name == "set_dimension_size" })
}

// Arguments returns the types that main takes.
func (p *Module) Arguments() []Type { return types(p.Main.Args) }

// Results returns the types that main returns.
func (p *Module) Results() []Type { return types(p.Main.Returned()) }

func types(list []*Value) []Type {
	var t []Type
	for _, v := range list {
		t = append(t, v.Type)
	}
	return t
}
