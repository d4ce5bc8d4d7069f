package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// differentiated is the gradient of the sum of squares of a program's results, by its inputs and state.
type differentiated struct {
	grads []*array.Array
	err   error
	crash bool
}

// gradients compares the gradients that a session makes with those of code that runs at once.
func gradients(ctx context.Context, p Entry) Verdict {
	v := Verdict{ID: p.ID, Capture: "session", Engine: "lazy-grad", Size: p.N, Kind: Agree}
	want, got := atOnce(ctx, p), recorded(p)
	switch {
	case got.crash:
		v.Kind, v.Detail = Crash, got.err.Error()
	case want.err != nil: // also what a session differentiates and a record of one run does not
	case got.err != nil:
		var d *diag.Error
		errors.As(got.err, &d)
		v.Kind, v.Code, v.Detail = Loud, string(d.Code), got.err.Error()
		if slices.Contains([]diag.Code{lazy.Past, alias.NoInverse}, d.Code) {
			v.Kind = Excluded
		}
	default:
		for i := range want.grads {
			if d := differ(got.grads[i], want.grads[i]); d != "" {
				v.Kind, v.Detail = Different, fmt.Sprintf("gradient %d: %s", i, d)
				break
			}
		}
	}
	return v
}

// ready returns the function of a program, its inputs, and the floats by which it is differentiated.
func ready(p Entry) (f reflect.Value, args, by []*tensor.Tensor) {
	i := p.New()
	f = reflect.ValueOf(i.Target)
	if f.Kind() == reflect.Pointer {
		f = f.MethodByName("Forward")
	}
	for _, a := range inputs(p, p.N, 0) {
		args = append(args, tensor.New(a))
	}
	state := named(i)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if x := state[name]; x.IsParam() && x.DType().IsFloat() {
			by = append(by, x)
		}
	}
	return f, args, by
}

// loss is the sum of the squares of all floats that a function returns, in f32.
func loss(f reflect.Value, args []*tensor.Tensor) *tensor.Tensor {
	in := make([]reflect.Value, len(args))
	for i, x := range args {
		in[i] = reflect.ValueOf(x)
	}
	var sum *tensor.Tensor
	for _, r := range f.Call(in) {
		leaves(r, func(x any) {
			if t, ok := x.(*tensor.Tensor); ok && t.DType().IsFloat() {
				part := t.Cast(array.F32).Square().Sum()
				if sum != nil {
					part = sum.Add(part)
				}
				sum = part
			}
		})
	}
	if sum == nil {
		panic((&diag.Error{Code: op.DTypeMismatch, Msg: "the program returns no floats"}).At(diag.Here()))
	}
	return sum
}

func floatsOf(list []*tensor.Tensor) (floats []*tensor.Tensor) {
	for _, x := range list {
		if x.DType().IsFloat() {
			floats = append(floats, x)
		}
	}
	return floats
}

var gradOptions = tensor.GradOptions{AllowUnused: true, AllowEvaluation: true}

func atOnce(ctx context.Context, p Entry) (d differentiated) {
	f, args, by := ready(p)
	_, d.err, d.crash = guarded(func([]*array.Array) ([]*array.Array, error) {
		all := append(floatsOf(args), by...)
		_, grads, err := fx.ValueAndGradWith(ctx, func() *tensor.Tensor { return loss(f, args) }, all, gradOptions)
		for _, g := range grads {
			d.grads = append(d.grads, g.Array())
		}
		return nil, err
	}, nil)
	return d
}

func recorded(p Entry) (d differentiated) {
	f, args, by := ready(p)
	s := lazy.New(lazy.Options{Gradients: true, Threads: 1})
	_, d.err, d.crash = guarded(func([]*array.Array) ([]*array.Array, error) {
		for i, x := range args {
			args[i] = s.In(x)
		}
		sum := loss(f, args)
		for _, g := range tensor.GradWith(sum, append(floatsOf(args), by...), gradOptions) {
			d.grads = append(d.grads, g.Array())
		}
		return nil, s.Close()
	}, nil)
	return d
}
