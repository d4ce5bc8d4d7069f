package shape

import (
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Dims is an immutable list of dimensions: a shape of known rank, or a list of
// sizes in an operator's attributes. The zero value is the empty list.
type Dims struct{ d []Dim }

// Of returns the list of the given dimensions.
func Of(d ...Dim) Dims { return Dims{append([]Dim(nil), d...)} }

// ConstDims returns the list of known sizes: a [Const] for each.
func ConstDims(n ...int) Dims {
	d := make([]Dim, len(n))
	for i, v := range n {
		d[i] = Const(v)
	}
	return Dims{d}
}

// Len returns the number of dimensions.
func (s Dims) Len() int { return len(s.d) }

// At returns dimension i; a negative i counts from the end.
func (s Dims) At(i int) Dim {
	if i < 0 {
		i += len(s.d)
	}
	return s.d[i]
}

// FromEnd returns dimension i counted from the last, which is 1; 1 where the list is
// shorter, as lists broadcast.
func (s Dims) FromEnd(i int) Dim {
	if i > len(s.d) {
		return Const(1)
	}
	return s.d[len(s.d)-i]
}

// Slice returns a copy that the caller may change.
func (s Dims) Slice() []Dim { return append([]Dim(nil), s.d...) }

// Known returns the sizes as ints; ok is false if one is not a known number.
func (s Dims) Known() (n []int, ok bool) {
	n = make([]int, len(s.d))
	for i, d := range s.d {
		if n[i], ok = d.Int(); !ok {
			return nil, false
		}
	}
	return n, true
}

// Equal reports whether both lists have equal dimensions; an unknown one equals none.
func (s Dims) Equal(t Dims) bool {
	return slices.EqualFunc(s.d, t.d, Dim.Equal)
}

// Bytes returns how many bytes a value of the type takes, all members of a tuple
// together: 0 for the zero Type, Unknown where a size or the element type is.
func (t Type) Bytes() Dim {
	switch {
	case t.kind == None:
		return Const(0)
	case t.kind == Tuple:
		total := Const(0)
		for _, m := range t.tuple {
			total = total.Add(m.Bytes())
		}
		return total
	case !t.ranked || t.dtype.Size() == 0:
		return Unknown
	}
	return t.dims.Prod().MulInt(t.dtype.Size())
}

// Same is Equal, but an unknown dimension is the same as another unknown one.
func (s Dims) Same(t Dims) bool {
	if n := len(s.d); n > 0 && n == len(t.d) && &s.d[0] == &t.d[0] {
		return true // one list
	}
	return slices.EqualFunc(s.d, t.d, Dim.Same)
}

// String returns "[N,3,224]"; an unknown dimension prints as "?".
func (s Dims) String() string { return string(s.text(nil)) }

func (s Dims) text(b []byte) []byte {
	b = append(b, '[')
	for i, d := range s.d {
		if i > 0 {
			b = append(b, ',')
		}
		if d.e == nil {
			b = strconv.AppendInt(b, d.n, 10)
		} else {
			b = append(b, d.e.key...)
		}
	}
	return append(b, ']')
}

// Bind replaces symbols by the results of env; see Dim.Bind.
func (s Dims) Bind(env func(symbol string) Dim) Dims {
	d := make([]Dim, len(s.d))
	for i := range s.d {
		d[i] = s.d[i].Bind(env)
	}
	return Dims{d}
}

// Append returns the list followed by more dimensions; s does not change.
func (s Dims) Append(d ...Dim) Dims {
	return Dims{append(append(make([]Dim, 0, len(s.d)+len(d)), s.d...), d...)}
}

// Concat returns s followed by t.
func (s Dims) Concat(t Dims) Dims { return s.Append(t.d...) }

// With returns the list with dimension i replaced; a negative i counts from the end.
func (s Dims) With(i int, d Dim) Dims {
	if i < 0 {
		i += len(s.d)
	}
	t := s.Slice()
	t[i] = d
	return Dims{t}
}

// Sub returns the dimensions from i up to, not including, j: 0 <= i <= j <= Len.
func (s Dims) Sub(i, j int) Dims { return Dims{s.d[i:j:j]} }

// Prod returns the product, which for a shape is the number of elements; 1 for
// the empty list.
func (s Dims) Prod() Dim {
	p := Dim{n: 1}
	for _, d := range s.d {
		p = p.Mul(d)
	}
	return p
}

// Countable reports whether the product of the dimensions that are known and not 0 is in the
// range of int, as array.NumElems asks of shapes. No array has sizes of a list that is not.
func (s Dims) Countable() bool {
	prod := 1
	for _, d := range s.d {
		n, known := d.Int()
		if !known || n <= 0 {
			continue
		}
		hi, lo := bits.Mul64(uint64(prod), uint64(n))
		if hi != 0 || lo > math.MaxInt {
			return false
		}
		prod = int(lo)
	}
	return true
}

// Kind is the kind of value that a Type describes.
type Kind uint8

// The kinds of Type.
const (
	None   Kind = iota // nothing is known; the zero Type
	Tensor             // one tensor
	Tuple              // several values, taken apart by getitem
)

// Type is the type of a value: element type and shape of a tensor, or the types
// of a tuple's members. Element type, rank and each dimension can be unknown on
// their own. Types are immutable values.
type Type struct {
	kind   Kind
	dtype  array.DType
	ranked bool
	dims   Dims
	tuple  []Type
}

// TensorType returns the type of a tensor of known rank; d may be array.Invalid (unknown).
func TensorType(d array.DType, dims Dims) Type {
	return Type{kind: Tensor, dtype: d, ranked: true, dims: dims}
}

// Unranked returns the type of a tensor of unknown shape; d may be array.Invalid.
func Unranked(d array.DType) Type { return Type{kind: Tensor, dtype: d} }

// TupleType returns the type of several values.
func TupleType(members ...Type) Type {
	return Type{kind: Tuple, tuple: append([]Type(nil), members...)}
}

// TypeOf returns the type of an array.
func TypeOf(a *array.Array) Type { return TensorType(a.DType(), ConstDims(a.Shape()...)) }

// Uncountable returns a member of t, or t itself, that no array is of because its sizes cannot be
// multiplied (Dims.Countable).
func (t Type) Uncountable() (is Type, found bool) {
	if t.kind == Tensor && !t.dims.Countable() {
		return t, true
	}
	for _, m := range t.tuple {
		if is, found = m.Uncountable(); found {
			return is, true
		}
	}
	return Type{}, false
}

// Describes reports whether t is the type of an array, all of it known: TypeOf(a), without
// making that. No type describes nil.
func (t Type) Describes(a *array.Array) bool {
	if a == nil || t.kind != Tensor || !t.ranked || t.dtype != a.DType() || t.dims.Len() != a.Rank() {
		return false
	}
	for i, size := range a.Shape() {
		if d, ok := t.dims.At(i).Int(); !ok || d != size {
			return false
		}
	}
	return true
}

// Kind returns the kind of value that the type describes.
func (t Type) Kind() Kind { return t.kind }

// DType returns the element type; array.Invalid when unknown.
func (t Type) DType() array.DType { return t.dtype }

// Ranked reports whether the rank is known.
func (t Type) Ranked() bool { return t.ranked }

// Rank returns the number of dimensions, -1 when unknown.
func (t Type) Rank() int {
	if !t.ranked {
		return -1
	}
	return t.dims.Len()
}

// Dims returns the dimensions; empty when the rank is unknown (see Ranked).
func (t Type) Dims() Dims { return t.dims }

// Dim returns dimension i (negative from the end); Unknown when the rank is
// unknown or i out of range.
func (t Type) Dim(i int) Dim {
	if i < 0 {
		i += t.dims.Len()
	}
	if !t.ranked || i < 0 || i >= t.dims.Len() {
		return Unknown
	}
	return t.dims.At(i)
}

// Len returns the number of members of a tuple.
func (t Type) Len() int { return len(t.tuple) }

// Member returns member i of a tuple.
func (t Type) Member(i int) Type { return t.tuple[i] }

// Members returns the members of a tuple; of another type, the type alone.
func (t Type) Members() []Type {
	if t.kind != Tuple {
		return []Type{t}
	}
	return slices.Clone(t.tuple)
}

// TypesOf returns the types of arrays, and the zero Type for a nil one.
func TypesOf(arrays ...*array.Array) []Type {
	types := make([]Type, len(arrays))
	for i, a := range arrays {
		if a != nil {
			types[i] = TypeOf(a)
		}
	}
	return types
}

// WithDType returns the tensor type with another element type.
func (t Type) WithDType(d array.DType) Type { t.dtype = d; return t }

// WithDims returns the tensor type with other dimensions.
func (t Type) WithDims(d Dims) Type { t.ranked, t.dims = true, d; return t }

// Concrete returns element type and sizes when everything about the tensor is known.
func (t Type) Concrete() (d array.DType, dims []int, ok bool) {
	if t.kind != Tensor || !t.ranked || t.dtype == array.Invalid {
		return 0, nil, false
	}
	dims, ok = t.dims.Known()
	return t.dtype, dims, ok
}

// Same reports whether both types say the same, unknown parts included.
func (t Type) Same(u Type) bool {
	if t.kind != u.kind || t.dtype != u.dtype || t.ranked != u.ranked || !t.dims.Same(u.dims) || len(t.tuple) != len(u.tuple) {
		return false
	}
	for i := range t.tuple {
		if !t.tuple[i].Same(u.tuple[i]) {
			return false
		}
	}
	return true
}

// Bind replaces symbols in all dimensions.
func (t Type) Bind(env func(symbol string) Dim) Type {
	t.dims = t.dims.Bind(env)
	if t.tuple != nil {
		m := make([]Type, len(t.tuple))
		for i := range m {
			m[i] = t.tuple[i].Bind(env)
		}
		t.tuple = m
	}
	return t
}

// String returns the text form: "f32[N,3]", "f32[*]" for an unknown rank, "?[N]"
// for an unknown element type, "(f32[2], i64[2])" for tuples, "?" for no knowledge.
func (t Type) String() string { return string(t.Text(nil)) }

// Text appends the text form to b.
func (t Type) Text(b []byte) []byte {
	switch t.kind {
	case Tensor:
		b = append(b, t.dtype.String()...)
		if !t.ranked {
			return append(b, "[*]"...)
		}
		return t.dims.text(b)
	case Tuple:
		b = append(b, '(')
		for i, m := range t.tuple {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = m.Text(b)
		}
		return append(b, ')')
	}
	return append(b, '?')
}

// Compatible reports whether one value can be of either type: an unknown type
// fits any other, and sizes that are not both numbers may turn out equal.
func (t Type) Compatible(u Type) bool {
	switch {
	case t.kind == None || u.kind == None:
		return true
	case t.kind != u.kind:
		return false
	case t.kind == Tuple:
		if len(t.tuple) != len(u.tuple) {
			return false
		}
		for i := range t.tuple {
			if !t.tuple[i].Compatible(u.tuple[i]) {
				return false
			}
		}
		return true
	case t.dtype != u.dtype && t.dtype != array.Invalid && u.dtype != array.Invalid:
		return false
	case !t.ranked || !u.ranked:
		return true
	case t.Rank() != u.Rank():
		return false
	}
	for i := range t.Rank() {
		x, xk := t.Dim(i).Int()
		y, yk := u.Dim(i).Int()
		if xk && yk && x != y {
			return false
		}
	}
	return true
}
