package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
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
		return opts[0]
	}
	panic((&diag.Error{Code: op.BadAttr, Op: o.Name, Msg: strconv.Itoa(len(opts)) + " option structs are given, expected at most one",
		Hint: "set all fields in one " + o.Codec().GoType().String()}).At(diag.Here()))
}

// call makes a call with absent trailing operands left out, so that they look
// the same however they are spelt.
func call(o *op.Op, attrs any, method bool, s sizeArgs, args ...*Tensor) []*Tensor {
	for n := len(args); n > 0 && args[n-1] == nil && !o.Variadic(); n-- {
		args = args[:n-1]
	}
	return dispatch(&Call{Op: o, Attrs: attrs, Args: args, Method: method}, s.e)
}

// Ints returns the list of v for an attributes struct: tensor.ReduceAttrs{Dim:
// tensor.Ints(2, 3)}.
func Ints(v ...int) op.Ints { return op.IntList(v...) }

// Floats returns the list of v for an attributes struct.
func Floats(v ...float64) op.Floats { return op.FloatList(v...) }
