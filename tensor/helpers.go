package tensor

import (
	"fmt"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// sizeArgs converts the size arguments of one call and remembers the engine that
// expressions among them belong to.
type sizeArgs struct{ e Engine }

func (s *sizeArgs) saw(e Engine) {
	if e != nil {
		s.e = engineOf("sizes", s.e, []*Tensor{NewProxy(e, nil)})
	}
}

// dim converts one size.
func (s *sizeArgs) dim(v any) shape.Dim {
	d, e := sizeOf(v)
	s.saw(e)
	return d
}

// dims converts a list of sizes; a single list argument is spread.
func (s *sizeArgs) dims(v []any) shape.Dims {
	if len(v) == 1 {
		if l, ok := v[0].([]any); ok {
			v = l
		}
	}
	d, e := sizesOf(v)
	s.saw(e)
	return d
}

// list converts sizeArgs given as one argument: a list of them, or a single one.
func (s *sizeArgs) list(v any) shape.Dims { return s.dims([]any{v}) }

// options returns the attributes given after the positional arguments.
func options[A any](o *op.Op, opts []A) A {
	switch len(opts) {
	case 0:
		var zero A
		return zero
	case 1:
		onlyOptions(o, opts[0])
		return opts[0]
	}
	panic((&diag.Error{Code: op.BadAttr, Op: o.Name, Msg: strconv.Itoa(len(opts)) + " option structs are given, expected at most one",
		Hint: "set all fields in one tensor." + o.Codec().GoType().Name()}).At(diag.Here()))
}

// onlyOptions refuses a struct that sets an attribute which the call takes as an
// argument: the argument would replace it without a word.
func onlyOptions(o *op.Op, attrs any) {
	for _, a := range o.Codec().Fields(attrs) {
		if a.Arg && !a.Zero {
			panic((&diag.Error{Code: op.BadAttr, Op: o.Name, Msg: "the options set " + a.GoName + ", which is an argument of the call",
				Hint: "pass it as the argument " + goname.Lower(a.GoName) + " and leave the field out"}).At(diag.Here()))
		}
	}
}

// listOf converts an argument that is a list or its only element; nil is the empty
// list.
func listOf(v any, o *op.Op, name string) op.Ints {
	switch v := v.(type) {
	case nil:
		return op.Ints{}
	case int:
		return op.IntList(v)
	case []int:
		return op.IntList(v...)
	case op.Ints:
		return v
	}
	panic((&diag.Error{Code: op.BadAttr, Op: o.Name, Msg: fmt.Sprintf("%s is a %T, expected an int or a []int", name, v)}).At(diag.Here()))
}

// call makes a call with absent trailing operands left out, so that they look
// the same however they are spelt.
func call(o *op.Op, attrs any, method bool, s sizeArgs, args ...*Tensor) []*Tensor {
	for n := len(args); n > 0 && args[n-1] == nil && !o.Variadic(); n-- {
		args = args[:n-1]
	}
	return dispatch(callee{o, attrs, method}, args, s.e)
}

// Ints returns the list of v for an attributes struct: tensor.ConvAttrs{Stride:
// tensor.Ints(2)}.
func Ints(v ...int) op.Ints { return op.IntList(v...) }

// Floats returns the list of v for an attributes struct.
func Floats(v ...float64) op.Floats { return op.FloatList(v...) }

// Number returns v, a Go number or bool, for an attributes struct:
// tensor.AddAttrs{Alpha: tensor.Number(0.5)}. Numbers of other types panic.
func Number(v any) op.Scalar {
	s, err := op.ScalarOf(v)
	if err != nil {
		panic(located(err, &op.Op{}))
	}
	return s
}

// Sizes returns the list of v, ints and [Size] values, for an attributes struct:
// tensor.InterpolateAttrs{Size: tensor.Sizes(h, 2*w)}.
func Sizes(v ...any) shape.Dims {
	d, e := sizesOf(v)
	if f := follower(e); f != nil { // the program may compare them
		list := d.Slice()
		for i := range list {
			list[i] = shape.Const(f.LookAt(list[i], "Sizes"))
		}
		return shape.Of(list...)
	}
	return d
}
