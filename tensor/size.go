package tensor

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Size is the size of an axis: a number, or an expression when a trace does not
// fix it. It is accepted wherever an operator takes a size. Sizes are compared by
// Equal: == does not compile, because under a trace it would compare how two
// expressions are written and fix a branch without a guard.
type Size struct {
	_ [0]func() // no ==, no map keys
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
			if f := follower(x.c.engine()); f != nil {
				return sizeIn(f.FollowSize(x, i), f)
			}
			return Size{d: shape.Const(n)}
		}
	}
	if s, ok := x.c.engine().(Symbolic); ok { // sizes of eager tensors are numbers
		return Size{d: s.Size(x, i), e: s}
	}
	return Size{d: shape.Const(x.observe("Size").Dim(i))}
}

// Dim returns the size of axis i (negative from the end) as a number. When a
// trace does not know it, that is reported with the advice to use Size.
//
//gofx:observes FX1005
func (x *Tensor) Dim(i int) int {
	t := x.Type()
	if t.Ranked() {
		i = axisOf(i, t.Rank())
		if n, ok := t.Dim(i).Int(); ok {
			if f := follower(x.c.engine()); f != nil {
				return f.LookAt(f.FollowSize(x, i), "Dim")
			}
			return asked(n)
		}
	}
	if s, ok := x.c.engine().(Symbolic); ok {
		return s.KnownSize(x, i)
	}
	return x.observe("Dim").Dim(i)
}

// follower returns the engine that follows sizes now, nil for none.
func follower(e Engine) Follower {
	if f, ok := e.(Follower); ok && f.Following() {
		return f
	}
	return nil
}

// sizeIn is a size of an engine; a number is that of none.
func sizeIn(d shape.Dim, e Engine) Size {
	if _, known := d.Int(); known {
		e = nil
	}
	return Size{d: d, e: e}
}

// settled returns a size that an engine has followed as a number, once it follows none: such a size was kept from before.
func (s Size) settled() Size {
	if f, ok := s.e.(Follower); ok && !f.Following() {
		return Size{d: shape.Const(f.LookAt(s.d, "Size"))}
	}
	return s
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
//
//gofx:observes FX1005
func (x *Tensor) Shape() []int {
	s := make([]int, x.Rank())
	for i := range s {
		s[i] = x.Dim(i)
	}
	return s
}

// Int returns the number; an expression that a trace does not fix is reported.
//
//gofx:observes FX1005
func (s Size) Int() int {
	if n, ok := s.d.Int(); ok {
		return asked(n)
	}
	return s.known("Size.Int")
}

func (s Size) known(what string) int {
	if n, ok := s.d.Int(); ok {
		return n
	}
	if f, ok := s.e.(Follower); ok {
		return f.LookAt(s.d, what)
	}
	return s.e.(Symbolic).KnownDim(s.d, what)
}

// Dim returns the size as the IR has it.
//
//gofx:observes nothing
func (s Size) Dim() shape.Dim {
	if f, ok := s.e.(Follower); ok { // the program may compare it
		return shape.Const(f.LookAt(s.d, "Size.Dim"))
	}
	return s.d
}

// Equal reports whether s is o, an int or a Size. A trace that neither knows both
// sizes nor that they are always equal or never reports it: what depends on the
// answer would be fixed for all runs.
//
//gofx:observes FX1005
func (s Size) Equal(o any) bool {
	d, e := sizeOf(o)
	eng := sizeEngine(s.e, e)
	a, known := s.d.Int()
	if b, ok := d.Int(); ok && known {
		return a == b
	}
	if f, ok := eng.(Follower); ok {
		return s.d.Equal(d) || same(f, s.d, d)
	}
	if eng == nil { // a shape.Dim of some graph
		badSize(o)
	}
	return eng.(Symbolic).EqualDims(s.d, d)
}

// same compares two sizes in an engine that follows them.
func same(f Follower, a, b shape.Dim) bool {
	r := shape.Relation{Rel: shape.EQ, A: a, B: b}
	ok := f.LookAt(a, "") == f.LookAt(b, "")
	if !ok {
		r.Rel = shape.NE
	}
	f.Branch(r)
	return ok
}

// String returns the number; see Int for expressions, because the text of a run
// would be another. Dim().String() is the text of an expression.
//
//gofx:observes FX1005
func (s Size) String() string { return strconv.Itoa(s.known("Size.String")) }

// Format prints the number as fmt prints an int; see String.
//
//gofx:observes FX1005
func (s Size) Format(f fmt.State, verb rune) {
	var v any = s.known("Size.String")
	if verb == 's' || verb == 'q' {
		v = fmt.Sprint(v)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), v)
}

// MarshalJSON gives the number; see String.
//
//gofx:observes FX1005
func (s Size) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// sizeEngine returns the engine of two sizes, nil when both are numbers.
func sizeEngine(a, b Engine) Engine {
	if b == nil {
		return a
	}
	return engineOf("Size", a, []*Tensor{NewProxy(b, nil)})
}

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

// Min returns the smaller one of s and o, which is an int or a Size.
func (s Size) Min(o any) Size { return s.with(o, shape.Dim.Min) }

// Max returns the greater one of s and o, which is an int or a Size.
func (s Size) Max(o any) Size { return s.with(o, shape.Dim.Max) }

// Mod returns what is left of s after division by o, an int or a Size, rounded down: it
// is not negative where o is positive. A size is padded to a multiple of k by
// s.Mul(-1).Mod(k).
func (s Size) Mod(o any) Size {
	d, _ := sizeOf(o)
	if d.Is(0) {
		panic((&diag.Error{Code: op.BadAttr, Op: "Size.Mod", Msg: "division by zero"}).At(diag.Here()))
	}
	return s.with(o, func(a, b shape.Dim) shape.Dim { return a.Sub(a.FloorDiv(b).Mul(b)) })
}

func (s Size) with(o any, f func(a, b shape.Dim) shape.Dim) Size {
	d, e := sizeOf(o)
	s = s.settled()
	return sizeIn(f(s.d, d), sizeEngine(s.e, e))
}

// sizeOf converts an argument that stands for a size.
func sizeOf(v any) (shape.Dim, Engine) {
	switch v := v.(type) {
	case int:
		return shape.Const(v), nil
	case int64:
		return shape.Const(int(v)), nil
	case Size:
		v = v.settled()
		return v.d, v.e
	case shape.Dim:
		return v, nil
	}
	badSize(v)
	return shape.Dim{}, nil
}

func badSize(v any) {
	what, hint := fmt.Sprintf("%T", v), "pass ints, or x.Size(i) for a size that is known only at run time"
	if t := reflect.TypeOf(v); t != nil && t.Kind() == reflect.Struct && strings.HasSuffix(t.Name(), "Attrs") {
		what = "struct of options"
		hint = "a list of sizes takes no options after it: call the function with With after its name, such as tensor.OnesWith(size, attrs)"
	}
	panic((&diag.Error{Code: BadSize, Msg: "a size is a " + what + ", which is neither an int nor a tensor.Size", Hint: hint}).At(diag.Here()))
}

// sizesOf converts size arguments and finds the engine that expressions among
// them belong to. A single []int or []Size is spread.
func sizesOf(args []any) (shape.Dims, Engine) {
	if len(args) == 1 {
		switch v := args[0].(type) {
		case []int:
			return shape.ConstDims(v...), nil
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
