package op

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Layout says where a view shows the elements of a value whose own elements lie in
// order, for all values of the symbols at once: the element with index i, j, ... is
// element i*Strides[0] + j*Strides[1] + ... of the value, where Moved is false. Moved
// says that the view begins at another element, or that it is not known where.
//
// The stride of a dimension of size 1 has no meaning. Sizes that are unknown make the
// strides that follow from them unknown.
type Layout struct {
	Sizes, Strides []shape.Dim
	Moved          bool
}

// InOrder is the layout of a value of these sizes whose elements lie in order.
func InOrder(dims shape.Dims) Layout {
	l := Layout{Sizes: slices.Clone(dims.Slice())}
	l.Strides = spread(l.Sizes, shape.Const(1))
	return l
}

// LayoutOf is the layout of an array in its storage.
func LayoutOf(a *array.Array) Layout {
	return Layout{Sizes: numbers(a.Shape()), Strides: numbers(a.Strides()), Moved: a.Offset() != 0}
}

func numbers(list []int) []shape.Dim {
	out := make([]shape.Dim, len(list))
	for i, n := range list {
		out[i] = shape.Const(n)
	}
	return out
}

// IsInOrder reports whether the layout is proved to be that of a value whose elements
// lie in order, beginning with the first.
func (l Layout) IsInOrder() bool {
	if l.Moved {
		return false
	}
	next := shape.Const(1)
	for i := len(l.Sizes) - 1; i >= 0; i-- {
		if !l.Sizes[i].Is(1) && !l.Strides[i].Equal(next) {
			return false
		}
		next = next.Mul(l.Sizes[i])
	}
	return true
}

// Layout says how the results of a call lie over the value that their operand, ViewOf,
// is itself a view of, by the layout at. The operands' types and the results' dimensions
// may be symbolic. Nothing is tried on sizes: what is returned follows from identities of
// the expressions.
//
//   - True: the results are views for all sizes, and lie so.
//   - False: they are copies for all sizes with which there are elements.
//   - Open: sizes decide, or it cannot be shown.
func (o *Op) Layout(attrs any, in []shape.Type, results []shape.Dims, at Layout) ([]Layout, shape.Truth) {
	attrs = orZero(o, attrs)
	switch {
	case o.ViewOf == 0:
		return nil, shape.False
	case o.ViewOf > len(in) || o.AdHoc:
		return nil, shape.Open
	case o.decompose != nil:
		return o.composed(attrs, in, at)
	}
	step, err := o.Step(attrs, in)
	if err != nil {
		return nil, shape.Open
	}
	if out, truth, known := StepLayout(step, results, at); known {
		return out, truth
	}
	return o.tried(attrs, in, at)
}

// StepLayout is Layout of a step. known is false for steps from elsewhere, whose views
// can be tried on arrays alone.
func StepLayout(step kernel.Step, results []shape.Dims, at Layout) (out []Layout, truth shape.Truth, known bool) {
	if u, is := step.(*Unsized); is {
		step = u.Step
	}
	s, known := stepView(step)
	if !known {
		return nil, shape.Open, false
	}
	for i, d := range results {
		l, truth := s(at, d, i)
		if truth != shape.True {
			return nil, truth, true
		}
		out = append(out, l)
	}
	return out, shape.True, true
}

// viewed lays result i, of dimensions d, over what at lays.
type viewed func(at Layout, d shape.Dims, i int) (Layout, shape.Truth)

// stepView returns how the steps of package kernel that are views lay their results: what
// their View methods do with numbers.
func stepView(step kernel.Step) (v viewed, known bool) {
	switch s := step.(type) {
	case *kernel.Reshape:
		return reshaped, true
	case *kernel.Expand:
		return expanded, true
	case *kernel.Permute:
		return func(at Layout, _ shape.Dims, _ int) (Layout, shape.Truth) { return permuted(at, s.Dims) }, true
	case *kernel.Slice:
		return func(at Layout, d shape.Dims, _ int) (Layout, shape.Truth) { return sliced(at, d, s.Dim, s.Step) }, true
	case *kernel.Select:
		return func(at Layout, _ shape.Dims, _ int) (Layout, shape.Truth) { return dropped(at, s.Dim) }, true
	case *kernel.Split:
		return func(at Layout, d shape.Dims, i int) (Layout, shape.Truth) { return piece(at, d, s, i) }, true
	case *kernel.Diagonal:
		return func(at Layout, d shape.Dims, _ int) (Layout, shape.Truth) { return diagonal(at, d, s) }, true
	case kernel.Viewer:
		return nil, false
	}
	return func(Layout, shape.Dims, int) (Layout, shape.Truth) { return Layout{}, shape.False }, true
}

func permuted(at Layout, dims []int) (l Layout, truth shape.Truth) {
	if len(dims) != len(at.Sizes) {
		return l, shape.Open
	}
	l.Moved = at.Moved
	for _, d := range dims {
		if d < 0 {
			d += len(dims)
		}
		l.Sizes, l.Strides = append(l.Sizes, at.Sizes[d]), append(l.Strides, at.Strides[d])
	}
	return l, shape.True
}

func expanded(at Layout, d shape.Dims, _ int) (l Layout, truth shape.Truth) {
	lead := d.Len() - len(at.Sizes)
	if lead < 0 {
		return l, shape.Open
	}
	l = Layout{Sizes: d.Slice(), Strides: make([]shape.Dim, d.Len()), Moved: at.Moved}
	for i, n := range at.Sizes {
		switch {
		case n.Equal(d.At(lead + i)):
			l.Strides[lead+i] = at.Strides[i]
		case !n.Is(1):
			return l, shape.Open // one of 1, or the same size by another name
		}
	}
	return l, shape.True
}

func sliced(at Layout, d shape.Dims, axis, step int) (l Layout, truth shape.Truth) {
	if axis >= len(at.Sizes) || d.Len() != len(at.Sizes) {
		return l, shape.Open
	}
	if n := d.At(axis); n.Equal(at.Sizes[axis]) {
		return at, shape.True // as many elements as there are: all of them
	}
	l = Layout{Sizes: d.Slice(), Strides: slices.Clone(at.Strides), Moved: true}
	l.Strides[axis] = l.Strides[axis].MulInt(step)
	return l, shape.True
}

// dropped takes one index of an axis.
func dropped(at Layout, axis int) (l Layout, truth shape.Truth) {
	if axis < 0 || axis >= len(at.Sizes) {
		return l, shape.Open
	}
	return Layout{
		Sizes:   slices.Delete(slices.Clone(at.Sizes), axis, axis+1),
		Strides: slices.Delete(slices.Clone(at.Strides), axis, axis+1),
		Moved:   at.Moved || !at.Sizes[axis].Is(1),
	}, shape.True
}

func piece(at Layout, d shape.Dims, s *kernel.Split, i int) (l Layout, truth shape.Truth) {
	if s.Unbind {
		return dropped(at, s.Dim)
	}
	if l, truth = sliced(at, d, s.Dim, 1); i > 0 {
		l.Moved = true
	}
	return l, truth
}

func diagonal(at Layout, d shape.Dims, s *kernel.Diagonal) (l Layout, truth shape.Truth) {
	rank := len(at.Sizes)
	d1, d2 := (s.Dim1+rank)%max(rank, 1), (s.Dim2+rank)%max(rank, 1)
	if d.Len() != rank-1 || d1 == d2 {
		return l, shape.Open
	}
	l = Layout{Sizes: d.Slice(), Moved: at.Moved || s.Offset != 0}
	for i, n := range at.Strides {
		if i != d1 && i != d2 {
			l.Strides = append(l.Strides, n)
		}
	}
	l.Strides = append(l.Strides, at.Strides[d1].Add(at.Strides[d2]))
	return l, shape.True
}

// tried is Layout of an operator whose step only knows arrays: where all is numbers.
func (o *Op) tried(attrs any, in []shape.Type, at Layout) ([]Layout, shape.Truth) {
	headers := make([]*array.Array, len(in))
	for i, t := range in {
		if t.Kind() == shape.None {
			continue
		}
		d, dims, ok := t.Concrete()
		if !ok || !array.Countable(d, dims) {
			return nil, shape.Open
		}
		headers[i] = &array.Array{}
		headers[i].Reset(d, dims)
	}
	base := headers[o.ViewOf-1]
	strides, known := shape.Of(at.Strides...).Known()
	if sizes, ok := shape.Of(at.Sizes...).Known(); !known || !ok || base == nil || !slices.Equal(sizes, base.Shape()) {
		return nil, shape.Open
	}
	base.SetLayout(base, base.Shape(), strides, 0)
	out, view, err := o.View(attrs, headers)
	switch {
	case err != nil:
		return nil, shape.Open
	case !view:
		return nil, shape.False
	}
	list := make([]Layout, len(out))
	for i, a := range out {
		list[i] = LayoutOf(a)
		list[i].Moved = list[i].Moved || at.Moved
	}
	return list, shape.True
}

// composed is Layout of an operator that others define.
func (o *Op) composed(attrs any, in []shape.Type, at Layout) (out []Layout, truth shape.Truth) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case shape.Truth:
			out, truth = nil, r
		case *diag.Error:
			out, truth = nil, shape.Open
		default:
			panic(r)
		}
	}()
	values := make([]Value, len(in))
	for i, t := range in {
		if t.Kind() != shape.None {
			values[i] = laid{types: []shape.Type{t}}
		}
	}
	values[o.ViewOf-1] = laid{[]shape.Type{in[o.ViewOf-1]}, []Layout{at}, false}
	v, ok := o.decompose(layoutBuilder{}, attrs, values).(laid)
	if !ok || v.at == nil {
		return nil, shape.False
	}
	return v.at, shape.True
}

// laid is a value of which the type is known, and the layout where it is a view.
type laid struct {
	types []shape.Type
	at    []Layout
	tuple bool
}

// Type implements Value.
func (v laid) Type() shape.Type {
	if v.tuple {
		return shape.TupleType(v.types...)
	}
	return v.types[0]
}

// layoutBuilder runs decompositions on layouts.
type layoutBuilder struct{}

func (b layoutBuilder) Call(o *Op, attrs any, in ...Value) Value {
	attrs, err := o.codec.Given(attrs)
	if err != nil {
		panic(err)
	}
	types := make([]shape.Type, len(in))
	for i, v := range in {
		if v != nil {
			types[i] = v.(laid).types[0]
		}
	}
	t, err := o.Type(nil, attrs, types)
	if err != nil {
		panic(located(err))
	}
	v := laid{types: []shape.Type{t}}
	if _, v.tuple = o.NumResults(attrs); v.tuple {
		v.types = make([]shape.Type, t.Len())
		for i := range v.types {
			v.types[i] = t.Member(i)
		}
	}
	if o.ViewOf == 0 || o.ViewOf > len(in) || in[o.ViewOf-1] == nil || in[o.ViewOf-1].(laid).at == nil {
		return v
	}
	dims := make([]shape.Dims, len(v.types))
	for i, t := range v.types {
		if !t.Ranked() {
			panic(shape.Open)
		}
		dims[i] = t.Dims()
	}
	at, truth := o.Layout(attrs, types, dims, in[o.ViewOf-1].(laid).at[0])
	if truth == shape.Open {
		panic(truth)
	}
	v.at = at
	return v
}

func (b layoutBuilder) Item(tuple Value, i int) Value {
	t := tuple.(laid)
	v := laid{types: t.types[i : i+1]}
	if t.at != nil {
		v.at = t.at[i : i+1]
	}
	return v
}
