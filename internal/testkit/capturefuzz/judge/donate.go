package judge

import (
	"context"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// donating runs a program with one state in one session so often that its barriers update the
// state in place, with one size, another one, and the first one again.
func donating(p Entry) Verdict {
	v := Verdict{ID: p.ID, Capture: "session", Engine: "lazy-donate", Size: p.N}
	var list []variant
	for _, n := range []int{p.N, 5, p.N} {
		for range 6 {
			list = append(list, variant{size: n})
		}
	}
	want := sequence(p, list, asModel(p.New()), nil)
	s := lazy.New(lazy.Options{Warm: 1, Threads: 1, Donate: true})
	got := sequence(p, list, asModel(p.New()), func(f reflect.Value, in []*array.Array) ([]*array.Array, error) { return invokeKept(s, f, in) })
	v.Detail = got.otherBits(want)
	if v.Kind = Different; v.Detail == "" {
		v.Kind, v.Code, v.Detail = (engine{name: v.Engine, exclude: []diag.Code{alias.NoInverse}}).verdict(got, want, false)
	}
	if v.Kind == Agree && s.Stats().Donated > 0 {
		v.Code = "donated"
	}
	return v
}

// asModel makes parameters of the tensors of a program: only a model's are updated in place.
func asModel(i Instance) Instance {
	for _, x := range named(i) {
		if a, eager := x.Value().(*array.Array); eager && x.Engine() == nil {
			*x = *tensor.Param(a)
		}
	}
	return i
}

// invokeKept calls a function in a session, and reads what it gives after the barrier.
func invokeKept(s *lazy.Session, f reflect.Value, in []*array.Array) (out []*array.Array, err error) {
	args := make([]*tensor.Tensor, len(in))
	values := make([]reflect.Value, len(in))
	for k, a := range in {
		args[k] = s.In(tensor.New(a))
		values[k] = reflect.ValueOf(args[k])
	}
	var results []any
	for _, r := range f.Call(values) {
		leaves(r, func(x any) { results = append(results, x) })
	}
	kept := args
	for _, x := range results {
		if x, ok := x.(*tensor.Tensor); ok && x.Engine() == tensor.Engine(s) {
			kept = append(kept, x)
		}
	}
	s.Keep(kept...)
	if err := s.Barrier(); err != nil {
		return nil, err
	}
	s.Wait()
	for _, x := range results {
		switch x := x.(type) {
		case *array.Array:
			out = append(out, x)
		case *tensor.Tensor:
			a, eager := x.Value().(*array.Array)
			if !eager {
				a = x.Clone().Array()
			}
			out = append(out, a)
		}
	}
	for k, x := range args {
		array.Copy(in[k], x.Clone().Array())
	}
	return out, nil
}

// programmed runs a program as a Entry of a session, captured for each size.
func programmed(ctx context.Context, p Entry, want func(n int) *run) (list []Verdict) {
	for _, n := range many(p) {
		v := Verdict{ID: p.ID, Capture: "session", Engine: "lazy-program", Size: n}
		i := p.New()
		t := &traced{inst: i, before: named(i), data: map[string]*array.Array{}}
		for name, x := range t.before {
			t.data[name] = copied(x.Array())
		}
		s := lazy.New(lazy.Options{Threads: 1, Context: ctx})
		var types []*tensor.Tensor
		for _, a := range inputs(p, n, 0) {
			types = append(types, tensor.New(a))
		}
		var step *lazy.Program
		_, err, crash := guarded(func([]*array.Array) (_ []*array.Array, err error) {
			step, err = s.Program(i.Target, types...)
			return nil, err
		}, nil)
		for name, x := range t.before {
			array.Copy(x.Array(), t.data[name])
		}
		switch {
		case err != nil && crash:
			v.Kind, v.Detail = Crash, err.Error()
		case err != nil:
			if v.Kind, v.Code, v.Detail = refusal(p, err); v.Kind == Refused {
				v.Kind = Excluded
			}
		default:
			t.gm = fx.NewGraphModule(step.Module())
			got := repeat(p, n, func(in []*array.Array) (out []*array.Array, err error) {
				results, err := step.Run(tensors(in)...)
				for _, x := range results {
					out = append(out, x.Array())
				}
				return out, err
			}, func() map[string]*array.Array { return t.state(nil) })
			if v.Detail = got.otherBits(want(n)); v.Detail != "" {
				v.Kind = Different
				break
			}
			v.Kind, v.Code, v.Detail = (engine{name: v.Engine, exclude: append([]diag.Code{alias.NoInverse}, planCodes...)}).verdict(got, want(n), false)
		}
		if list = append(list, v); v.Kind.Bad() {
			break
		}
	}
	return list
}

func tensors(in []*array.Array) []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(in))
	for i, a := range in {
		list[i] = tensor.New(a)
	}
	return list
}
