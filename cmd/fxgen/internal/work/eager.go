package work

import (
	"context"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

var (
	tensorType  = reflect.TypeFor[*tensor.Tensor]()
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// eager calls the Go function itself. Arguments and results are packed as the
// tracer packs them: structs by their exported fields, maps by sorted keys.
func (c *captured) eager(ctx context.Context, in []*array.Array) (out []*array.Array, err error) {
	fn, err := c.function()
	if err != nil {
		return nil, err
	}
	err = exchange.Recover(func() error {
		out, err = callEager(ctx, fn, in)
		return err
	})
	return out, err
}

func callEager(ctx context.Context, fn reflect.Value, in []*array.Array) (out []*array.Array, err error) {
	a := arguments{in: in}
	var args []reflect.Value
	for i := range fn.Type().NumIn() {
		t := fn.Type().In(i)
		if t == contextType {
			args = append(args, reflect.ValueOf(&ctx).Elem())
			continue
		}
		v, err := a.value(t)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	var results []reflect.Value
	if fn.Type().IsVariadic() {
		results = fn.CallSlice(args)
	} else {
		results = fn.Call(args)
	}
	var list []any
	for _, r := range results {
		if e, ok := r.Interface().(error); ok {
			return nil, e
		}
		list = append(list, r.Interface())
	}
	return certificate.Unpack(list), nil
}

func (c *captured) function() (reflect.Value, error) {
	if c.module == nil {
		return reflect.ValueOf(c.src.Func), nil
	}
	method := c.src.Method
	if method == "" {
		method = "Forward"
	}
	fn := reflect.ValueOf(c.module).MethodByName(method)
	if !fn.IsValid() {
		return fn, diag.New(NoSymbol, c.src.Name+" has no method "+method)
	}
	return fn, nil
}

// arguments hands out inputs in order.
type arguments struct {
	in   []*array.Array
	next int
}

func (a *arguments) value(t reflect.Type) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	switch {
	case t == tensorType:
		if a.next < len(a.in) && a.in[a.next] != nil {
			v.Set(reflect.ValueOf(tensor.New(a.in[a.next])))
		}
		a.next++
		return v, nil
	case t.Kind() == reflect.Pointer:
		inner, err := a.value(t.Elem())
		if err == nil {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(inner)
		}
		return v, err
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if !t.Field(i).IsExported() || !holdsTensor(t.Field(i).Type) {
				continue
			}
			x, err := a.value(t.Field(i).Type)
			if err != nil {
				return v, err
			}
			v.Field(i).Set(x)
		}
		return v, nil
	}
	return v, diag.New(BadEngine, "engine eager cannot make an argument of type "+t.String()).
		WithHint("use -engine interp or plan")
}

func holdsTensor(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return t == tensorType || t.Elem().Kind() == reflect.Struct && holdsTensor(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && t.Field(i).Type == tensorType {
				return true
			}
		}
	}
	return false
}
