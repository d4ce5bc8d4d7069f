package nn

import (
	"context"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

// Run calls a module's Forward and returns its only result. In a trace the
// module becomes a scope, or one node where the tracer takes it for a leaf.
// Forward may take tensors, a variadic last one and a context first. A module
// with several results is run by RunAll.
func Run(m any, in ...*tensor.Tensor) *tensor.Tensor {
	out := RunAll(m, in...)
	if len(out) != 1 {
		notRunnable(m, "Forward has "+strconv.Itoa(len(out))+" results, expected one", "use nn.RunAll")
	}
	return out[0]
}

// RunAll is Run for modules with any number of results; tensors in slices and
// structs are flattened in order.
func RunAll(m any, in ...*tensor.Tensor) []*tensor.Tensor {
	if v := reflect.ValueOf(m); library(m) || v.Kind() == reflect.Pointer && v.IsNil() { // which is no scope
		return forward(m, in)
	}
	return tensor.RunScope(m, in, func() []*tensor.Tensor { return forward(m, in) })
}

// library reports whether m is a leaf of this package; a struct of another one
// that embeds a leaf is not.
func library(m any) bool {
	if _, ok := m.(isLeaf); !ok {
		return false
	}
	t := reflect.TypeOf(m)
	return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == packagePath
}

var packagePath = reflect.TypeFor[Linear]().PkgPath()

func notRunnable(m any, msg, hint string) {
	what := "nil"
	if m != nil {
		what = reflect.TypeOf(m).String()
	}
	panic((&diag.Error{Code: NotRunnable, Op: what, Msg: msg, Hint: hint}).At(diag.Here()))
}

// forward calls the usual signatures directly and all others by reflection.
func forward(m any, in []*tensor.Tensor) []*tensor.Tensor {
	one := func(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x} }
	switch f := m.(type) {
	case Module:
		if len(in) == 1 {
			return one(f.Forward(in[0]))
		}
	case interface {
		Forward(a, b *tensor.Tensor) *tensor.Tensor
	}:
		if len(in) == 2 {
			return one(f.Forward(in[0], in[1]))
		}
	case interface {
		Forward(a, b, c *tensor.Tensor) *tensor.Tensor
	}:
		if len(in) == 3 {
			return one(f.Forward(in[0], in[1], in[2]))
		}
	case interface {
		Forward(a, b, c, d *tensor.Tensor) *tensor.Tensor
	}:
		if len(in) == 4 {
			return one(f.Forward(in[0], in[1], in[2], in[3]))
		}
	case interface {
		Forward(x ...*tensor.Tensor) *tensor.Tensor
	}:
		return one(f.Forward(in...))
	}
	return reflected(m, in)
}

var (
	tensorType  = reflect.TypeFor[*tensor.Tensor]()
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

func reflected(m any, in []*tensor.Tensor) []*tensor.Tensor {
	f := reflect.ValueOf(m)
	if f.IsValid() {
		f = f.MethodByName("Forward")
	}
	if !f.IsValid() {
		notRunnable(m, "the type has no method Forward", "pass a pointer to a module")
	}
	t := f.Type()
	var args []reflect.Value
	if t.NumIn() > 0 && t.In(0) == contextType {
		args = append(args, reflect.ValueOf(context.Background()))
	}
	for i, x := range in {
		k := len(args)
		switch {
		case t.IsVariadic() && k >= t.NumIn()-1 && t.In(t.NumIn()-1).Elem() == tensorType:
		case k < t.NumIn() && t.In(k) == tensorType:
		case k < t.NumIn():
			notRunnable(m, "parameter "+strconv.Itoa(i)+" of Forward is a "+t.In(k).String()+", expected *tensor.Tensor", "call Forward directly")
		default:
			notRunnable(m, strconv.Itoa(len(in))+" inputs are given, Forward takes "+strconv.Itoa(t.NumIn()), "")
		}
		args = append(args, reflect.ValueOf(x))
	}
	if need := t.NumIn(); len(args) < need && !(t.IsVariadic() && len(args) == need-1) {
		notRunnable(m, strconv.Itoa(len(in))+" inputs are given, Forward takes "+strconv.Itoa(need), "pass nil for an absent optional input")
	}
	var out []*tensor.Tensor
	for _, r := range f.Call(args) {
		out = flatten(m, r, out)
	}
	return out
}

// flatten collects the tensors of a result.
func flatten(m any, r reflect.Value, out []*tensor.Tensor) []*tensor.Tensor {
	switch {
	case r.Type() == tensorType:
		return append(out, r.Interface().(*tensor.Tensor))
	case r.Type() == errorType:
		if !r.IsNil() {
			panic((&diag.Error{Code: NotRunnable, Msg: "Forward returned an error", Err: r.Interface().(error)}).At(diag.Here()))
		}
		return out
	case r.Kind() == reflect.Slice || r.Kind() == reflect.Array:
		for i := range r.Len() {
			out = flatten(m, r.Index(i), out)
		}
		return out
	case r.Kind() == reflect.Struct:
		for i := range r.NumField() {
			switch f := r.Type().Field(i); {
			case f.IsExported():
				out = flatten(m, r.Field(i), out)
			case f.Type == tensorType && !r.Field(i).IsNil():
				notRunnable(m, "field "+f.Name+" of a result of type "+r.Type().String()+" holds a tensor and is not exported", "export the field, or call Forward directly")
			}
		}
		return out
	case r.Kind() == reflect.Pointer && !r.IsNil() && r.Elem().Kind() == reflect.Struct:
		return flatten(m, r.Elem(), out)
	}
	notRunnable(m, "Forward returns a "+r.Type().String()+", expected tensors", "")
	return nil
}
