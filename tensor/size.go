package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Size is the size of an axis: a number, or an expression when a trace does not
// fix it. It is accepted wherever an operator takes a size.
type Size struct {
	d shape.Dim
	e Engine // nil for numbers
}

// Size returns the size of axis i (negative from the end) as a number or an
// expression; unlike Dim it never needs the number.
func (x *Tensor) Size(i int) Size {
	t := x.Type()
	if t.Ranked() {
		i = axisOf(i, t.Rank())
		if n, ok := t.Dim(i).Int(); ok {
			return Size{d: shape.Const(n)}
		}
	}
	if s, ok := x.c.eng.(Sizer); ok { // sizes of eager tensors are numbers
		return Size{s.Size(x, i), s}
	}
	return Size{d: shape.Const(x.observe("Size").Dim(i))}
}

// Dim returns the size of axis i (negative from the end) as a number. When a
// trace does not know it, that is reported with the advice to use Size.
func (x *Tensor) Dim(i int) int {
	t := x.Type()
	if t.Ranked() {
		i = axisOf(i, t.Rank())
		if n, ok := t.Dim(i).Int(); ok {
			return n
		}
	}
	if s, ok := x.c.eng.(Sizer); ok {
		return s.KnownSize(x, i)
	}
	return x.observe("Dim").Dim(i)
}

// axisOf returns the axis that i means. Operators take axis 0 of a
// 0-dimensional tensor, which yet has no size.
func axisOf(i, rank int) int {
	k, err := op.Axis(i, rank)
	if err == nil && rank == 0 {
		err = diag.New(op.BadAxis, "axis "+strconv.Itoa(i)+" of a 0-dimensional tensor, which has no axes")
	}
	if err != nil {
		panic(located(err, op.Dim))
	}
	return k
}

// Shape returns all sizes as numbers; see Dim.
func (x *Tensor) Shape() []int {
	s := make([]int, x.Rank())
	for i := range s {
		s[i] = x.Dim(i)
	}
	return s
}

// Int returns the number; an expression that a trace does not fix is reported.
func (s Size) Int() int {
	if n, ok := s.d.Int(); ok {
		return n
	}
	return s.e.(Sizer).KnownDim(s.d, "Size.Int")
}

// Dim returns the size as the IR has it.
func (s Size) Dim() shape.Dim { return s.d }

// String returns the number or the expression.
func (s Size) String() string { return s.d.String() }

// Add returns s + o, where o is an int or a Size.
func (s Size) Add(o any) Size { return s.with(o, shape.Dim.Add) }

// Sub returns s - o, where o is an int or a Size.
func (s Size) Sub(o any) Size { return s.with(o, shape.Dim.Sub) }

// Mul returns s * o, where o is an int or a Size.
func (s Size) Mul(o any) Size { return s.with(o, shape.Dim.Mul) }

// Div returns s / o rounded down, where o is an int or a Size.
func (s Size) Div(o any) Size {
	d, _ := sizeOf(o)
	if d.Is(0) {
		panic((&diag.Error{Code: op.BadAttr, Op: "Size.Div", Msg: "division by zero"}).At(diag.Here()))
	}
	return s.with(o, shape.Dim.FloorDiv)
}

func (s Size) with(o any, f func(a, b shape.Dim) shape.Dim) Size {
	d, e := sizeOf(o)
	r := Size{f(s.d, d), s.e}
	if r.e == nil {
		r.e = e
	}
	if e != nil && r.e != e {
		engineOf("Size", r.e, []*Tensor{NewProxy(e, nil)})
	}
	if _, known := r.d.Int(); known {
		r.e = nil
	}
	return r
}

// BadSize is the code of a size argument that is neither an int nor a Size.
const BadSize diag.Code = "FX2025"

// sizeOf converts an argument that stands for a size.
func sizeOf(v any) (shape.Dim, Engine) {
	switch v := v.(type) {
	case int:
		return shape.Const(v), nil
	case int64:
		return shape.Const(int(v)), nil
	case Size:
		return v.d, v.e
	case shape.Dim:
		return v, nil
	}
	panic((&diag.Error{Code: BadSize, Msg: "a size is neither an int nor a tensor.Size",
		Hint: "pass ints, or x.Size(i) for a size that is known only at run time"}).At(diag.Here()))
}

// sizesOf converts size arguments and finds the engine that expressions among
// them belong to. A single []int or []Size is spread.
func sizesOf(args []any) (shape.Dims, Engine) {
	if len(args) == 1 {
		switch v := args[0].(type) {
		case []int:
			return shape.Ints(v...), nil
		case shape.Dims:
			return v, nil
		case []Size:
			args = make([]any, len(v))
			for i := range v {
				args[i] = v[i]
			}
		}
	}
	var eng Engine
	d := make([]shape.Dim, len(args))
	for i, a := range args {
		var e Engine
		d[i], e = sizeOf(a)
		if e != nil {
			eng = engineOf("sizes", eng, []*Tensor{NewProxy(e, nil)})
		}
	}
	return shape.Of(d...), eng
}

// scalarOf converts a number argument; nil is the absent number.
func scalarOf(v any, o *op.Op) op.Scalar {
	if v == nil {
		return op.Scalar{}
	}
	s, err := op.ScalarOf(v)
	if err != nil {
		panic(located(err, o))
	}
	return s
}

// intsOf converts a list argument.
func intsOf(v []int) op.Ints { return op.IntList(v...) }
