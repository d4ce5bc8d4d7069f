package judge

import (
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// donating runs a step of training, the program and updates of its state, with one state in one
// session so often that its barriers update the state in place, with one size, another one, and
// the first one again.
func donating(p Entry) Verdict {
	v := Verdict{ID: p.ID, Capture: "session", Engine: "lazy-donate", Size: p.N}
	var list []variant
	for _, n := range []int{p.N, 5, p.N} {
		for range 6 {
			list = append(list, variant{size: n})
		}
	}
	run := func(do func(f reflect.Value, in []*array.Array) ([]*array.Array, error)) *run {
		i := asModel(p.New())
		step := training(p, i)
		return sequence(p, list, i, func(_ reflect.Value, in []*array.Array) ([]*array.Array, error) { return do(step, in) })
	}
	want := run(func(f reflect.Value, in []*array.Array) ([]*array.Array, error) { return invoke(f, in), nil })
	s := lazy.New(lazy.Options{Warm: 1, Threads: 1, Donate: true})
	got := run(func(f reflect.Value, in []*array.Array) ([]*array.Array, error) { return invokeKept(s, f, in) })
	v.Detail = got.otherBits(want)
	if v.Kind = Different; v.Detail == "" {
		v.Kind, v.Code, v.Detail = (engine{name: v.Engine, exclude: []diag.Code{alias.NoInverse}}).verdict(got, want, false)
	}
	if v.Kind == Agree && s.Stats().Donated > 0 {
		v.Code = "donated"
	}
	return v
}

// training is a function as the program's, which updates the state after it: whole tensors and
// parts of them, from themselves, from the input, and from one another.
func training(p Entry, i Instance) reflect.Value {
	f := reflect.ValueOf(i.Target)
	if f.Kind() == reflect.Pointer {
		f = f.MethodByName("Forward")
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		out := f.Call(args)
		update(p, i, args[0].Interface().(*tensor.Tensor))
		return out
	})
}

func update(p Entry, i Instance, x *tensor.Tensor) {
	r := rand.New(rand.NewPCG(p.Seed, 7))
	state := named(i)
	var last *tensor.Tensor
	for _, name := range slices.Sorted(maps.Keys(state)) {
		t := state[name]
		way := r.IntN(5)
		if t.DType() == array.Bool {
			continue
		}
		g := x.Cast(array.F64).Mean().Clamp(-1, 1).Cast(t.DType())
		switch {
		case way == 0 && last != nil && last.Type().Same(t.Type()):
			old := t.Clone()
			t.AssignInPlace(last.Add(g))
			last.AssignInPlace(old)
		case way <= 1 && t.Rank() > 0:
			t.Select(0, 0).AddInPlace(g)
		case way <= 2:
			t.SubInPlace(t.Mul(g))
		case way == 3:
			t.AddInPlace(g).SubScalarInPlace(1)
		default:
			t.AssignInPlace(t.Clamp(-2, 2).Neg())
		}
		last = t
	}
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

// programmed runs a program as a Program of a session, captured for each size, and, where it can be
// captured so, its step of training.
func programmed(ctx context.Context, p Entry, want func(n int) *run) (list []Verdict) {
	for _, n := range many(p) {
		v := program(ctx, p, n, "lazy-program", func(i Instance) any { return i.Target }, want(n))
		list = append(list, v)
		if v.Kind.Bad() {
			return list
		}
		if v.Kind != Agree {
			continue
		}
		i := p.New()
		step := training(p, i)
		trained := repeat(p, n, func(in []*array.Array) ([]*array.Array, error) { return invoke(step, in), nil }, func() map[string]*array.Array { return arraysOf(named(i)) })
		if v = program(ctx, p, n, "lazy-program-step", func(i Instance) any { return training(p, i).Interface() }, trained); v.Kind == NoLine {
			v.Kind = Excluded // the line is the update's
		}
		list = append(list, v)
		if v.Kind.Bad() {
			return list
		}
	}
	return list
}

// program compares runs of one Program with those of eager code.
func program(ctx context.Context, p Entry, n int, name string, target func(i Instance) any, want *run) Verdict {
	v := Verdict{ID: p.ID, Capture: "session", Engine: name, Size: n}
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
		step, err = s.Program(target(i), types...)
		return nil, err
	}, nil)
	for name, x := range t.before {
		array.Copy(x.Array(), t.data[name])
	}
	switch {
	case err != nil && crash:
		v.Kind, v.Detail = Crash, err.Error()
		return v
	case err != nil:
		if v.Kind, v.Code, v.Detail = refusal(p, err); v.Kind == Refused {
			v.Kind = Excluded
		}
		return v
	}
	t.gm = fx.NewGraphModule(step.Module())
	got := repeat(p, n, func(in []*array.Array) (out []*array.Array, err error) {
		results, err := step.Run(tensors(in)...)
		for _, x := range results {
			out = append(out, x.Array())
		}
		return out, err
	}, func() map[string]*array.Array { return t.state(nil) })
	if v.Detail = got.otherBits(want); v.Detail != "" {
		v.Kind = Different
		return v
	}
	v.Kind, v.Code, v.Detail = (engine{name: name, exclude: append([]diag.Code{alias.NoInverse}, planCodes...)}).verdict(got, want, false)
	return v
}

func tensors(in []*array.Array) []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(in))
	for i, a := range in {
		list[i] = tensor.New(a)
	}
	return list
}
