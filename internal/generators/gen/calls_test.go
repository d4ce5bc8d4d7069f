package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// listener is an engine that keeps the last call.
type listener struct{ call *tensor.Call }

func (l *listener) Call(c *tensor.Call) []*tensor.Tensor {
	l.call = c
	n, _ := c.Op.NumResults(c.Attrs)
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = tensor.NewProxy(l, i)
	}
	return out
}

func (l *listener) Type(*tensor.Tensor) shape.Type              { return shape.Type{} }
func (l *listener) Observe(*tensor.Tensor, string) *array.Array { return nil }
func (l *listener) Assign(dst, src *tensor.Tensor, _ string)    { dst.SetValue(src.Value()) }

func (l *listener) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

// goArgs spells a sample call as the arguments of the method.
func goArgs(f *api.Func, attrs any, in []*tensor.Tensor) []reflect.Value {
	fields := reflect.ValueOf(attrs)
	var args []reflect.Value
	operand := 0
	for _, p := range f.Params {
		switch p.Kind {
		case api.Tensor:
			var x *tensor.Tensor
			if operand < len(in) {
				x = in[operand]
			}
			operand++
			args = append(args, reflect.ValueOf(x))
			continue
		case api.Tensors:
			if p.Variadic {
				for _, x := range in[operand:] {
					args = append(args, reflect.ValueOf(x))
				}
			} else {
				args = append(args, reflect.ValueOf(in[min(operand, len(in)):]))
			}
			continue
		}
		switch v := fields.FieldByName(p.Field).Interface().(type) {
		case op.Ints:
			args = append(args, spread(p, v.Slice())...)
		case op.Floats:
			args = append(args, spread(p, v.Slice())...)
		case shape.Dims:
			if p.Variadic {
				args = append(args, spread(p, v.Slice())...)
			} else {
				args = append(args, reflect.ValueOf(v))
			}
		case op.Scalar:
			if v.Present() {
				args = append(args, reflect.ValueOf(v))
			} else {
				args = append(args, reflect.Zero(reflect.TypeFor[any]()))
			}
		default:
			args = append(args, reflect.ValueOf(v))
		}
	}
	if given := f.Given(attrs); len(given) > 0 {
		options := reflect.New(fields.Type()).Elem()
		for _, a := range given {
			options.FieldByName(a.GoName).Set(fields.FieldByName(a.GoName))
		}
		args = append(args, options)
	}
	return args
}

// spelling is the first function of an operator that can take the given attributes.
func spelling(t *testing.T, o *op.Op, attrs any) *api.Func {
	list := api.Of(o)
	i := slices.IndexFunc(list, func(f *api.Func) bool { return f.Fits(attrs) })
	require.GreaterOrEqual(t, i, 0, "%s%s has no function", o.Name, o.Codec().Print(attrs))
	return list[i]
}

func spread[T any](p api.Param, list []T) []reflect.Value {
	if !p.Variadic {
		return []reflect.Value{reflect.ValueOf(list)}
	}
	var out []reflect.Value
	for _, v := range list {
		out = append(out, reflect.ValueOf(v))
	}
	return out
}

// TestMethodsMakeTheSampleCalls calls the generated methods with the samples of
// every operator: the engine receives the sample.
func TestMethodsMakeTheSampleCalls(t *testing.T) {
	calls := 0
	for _, o := range api.Ops() {
		for _, s := range o.Samples() {
			f := spelling(t, o, s.Attrs)
			if !f.Method {
				continue
			}
			calls++
			l := &listener{}
			in := make([]*tensor.Tensor, len(s.In))
			for i, a := range s.In {
				if a != nil {
					in[i] = tensor.NewProxy(l, a)
				}
			}
			args := goArgs(f, s.Attrs, in)
			method := args[0].MethodByName(f.Name)
			require.True(t, method.IsValid(), f.Name)
			method.Call(args[1:])
			require.Same(t, o, l.call.Op)
			require.True(t, l.call.Method)
			require.True(t, o.Codec().Equal(s.Attrs, l.call.Attrs), "%s, %s: %s became %s", f.Name, s.Name,
				o.Codec().Print(s.Attrs), o.Codec().Print(l.call.Attrs))
			for len(in) > 0 && in[len(in)-1] == nil {
				in = in[:len(in)-1]
			}
			require.Equal(t, len(in), len(l.call.Args), "%s, %s", f.Name, s.Name)
			for i := range in {
				require.Same(t, in[i], l.call.Args[i], "%s, %s: operand %d", f.Name, s.Name, i)
			}
		}
	}
	require.Greater(t, calls, 5*len(api.Ops()))
}
