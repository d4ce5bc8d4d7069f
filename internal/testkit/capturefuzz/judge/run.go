package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// calls is how often a program is called, to see the changes of its state.
const calls = 3

// call holds the results of one call: copies of its results, and of the state
// and the inputs after it.
type call struct {
	out, in []*array.Array
	state   map[string]*array.Array
}

// run is a number of calls; failed tells how the last one ended.
type run struct {
	calls  []call
	failed error
	crash  bool // the failure is no diagnostic
}

// inputs makes the inputs of a call. Values are multiples of 1/8, so that sums do
// not depend on an order.
func inputs(p Entry, n, call int) []*array.Array {
	r := rand.New(rand.NewPCG(p.Seed, uint64(n*calls+call)))
	var list []*array.Array
	for _, spec := range p.Inputs {
		t, err := shape.ParseType(strings.ReplaceAll(spec, "N", fmt.Sprint(n)))
		check(err)
		d, dims, _ := t.Concrete()
		a := array.New(d, dims...)
		for i := range a.Len() {
			switch v := r.IntN(33) - 16; {
			case d == array.Bool:
				array.SetFloat64At(a, i, float64(v&1))
			case d.IsFloat():
				array.SetFloat64At(a, i, float64(v)/8)
			default:
				array.SetFloat64At(a, i, float64(v/4))
			}
		}
		list = append(list, a)
	}
	return list
}

// named lists the tensors of an instance: a module's by path, and the globals.
func named(i Instance) map[string]*tensor.Tensor {
	all := map[string]*tensor.Tensor{}
	if reflect.TypeOf(i.Target).Kind() == reflect.Pointer {
		tensor.Walk(i.Target, func(it tensor.Item) bool {
			if it.Tensor != nil {
				all[it.Path] = it.Tensor
			}
			return true
		})
	}
	for name, t := range i.Globals {
		all["global "+name] = t
	}
	return all
}

func copied(a *array.Array) *array.Array { return array.Clone(a) }

func copies(list []*array.Array) []*array.Array {
	out := make([]*array.Array, len(list))
	for i, a := range list {
		out[i] = copied(a)
	}
	return out
}

// repeat calls f several times and keeps its results; state gives the arrays of
// the state after a call.
func repeat(p Entry, n int, f func(in []*array.Array) ([]*array.Array, error), state func() map[string]*array.Array) *run {
	r := &run{}
	for k := range calls {
		in := inputs(p, n, k)
		out, err, crash := guarded(f, in)
		if err != nil {
			r.failed, r.crash = err, crash
			return r
		}
		c := call{out: copies(out), in: copies(in), state: map[string]*array.Array{}}
		for name, a := range state() {
			c.state[name] = copied(a)
		}
		r.calls = append(r.calls, c)
	}
	return r
}

// guarded turns a panic into an error.
func guarded(f func(in []*array.Array) ([]*array.Array, error), in []*array.Array) (out []*array.Array, err error, crash bool) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(*diag.Error); !ok {
				err, crash = fmt.Errorf("panic: %v", r), true
			}
		}
	}()
	out, err = f(in)
	return out, err, false
}

// eager runs a program without capture.
func eager(p Entry, n int) *run {
	i := p.New()
	f := reflect.ValueOf(i.Target)
	if f.Kind() == reflect.Pointer {
		f = f.MethodByName("Forward")
	}
	return repeat(p, n, func(in []*array.Array) ([]*array.Array, error) { return invoke(f, in), nil }, func() map[string]*array.Array {
		return arraysOf(named(i))
	})
}

func arraysOf(ts map[string]*tensor.Tensor) map[string]*array.Array {
	all := map[string]*array.Array{}
	for name, t := range ts {
		all[name] = t.Array()
	}
	return all
}

// invoke calls a function of tensors and flattens its results as a trace does.
func invoke(f reflect.Value, in []*array.Array) []*array.Array {
	args := make([]*tensor.Tensor, len(in))
	for i, a := range in {
		args[i] = tensor.New(a)
	}
	return invokeOn(f, args)
}

func invokeOn(f reflect.Value, in []*tensor.Tensor) []*array.Array {
	args := make([]reflect.Value, len(in))
	for i, x := range in {
		args[i] = reflect.ValueOf(x)
	}
	var out []*array.Array
	for _, r := range f.Call(args) {
		out = flatten(out, r)
	}
	return out
}

// flatten appends the arrays of a result.
func flatten(flat []*array.Array, v reflect.Value) []*array.Array {
	leaves(v, func(x any) {
		switch x := x.(type) {
		case *tensor.Tensor:
			flat = append(flat, x.Array())
		case *array.Array:
			flat = append(flat, x)
		}
	})
	return flat
}

// leaves calls f with the tensors and arrays of a result, in the order of a trace.
func leaves(v reflect.Value, f func(x any)) {
	switch x := v.Interface().(type) {
	case nil, error:
		return
	case *tensor.Tensor, *array.Array:
		f(x)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), f)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			leaves(v.MapIndex(k), f)
		}
	}
}

// differ says how a run differs from the eager one, "" when it does not. The
// engine carries state when stateful.
func (r *run) differ(want *run, stateful bool) string {
	for k := range min(len(r.calls), len(want.calls)) {
		got, exp := r.calls[k], want.calls[k]
		if len(got.out) != len(exp.out) {
			return fmt.Sprintf("call %d: %d results, eager has %d", k, len(got.out), len(exp.out))
		}
		for i := range got.out {
			if d := differ(got.out[i], exp.out[i]); d != "" {
				return fmt.Sprintf("call %d, result %d: %s", k, i, d)
			}
		}
		for i := range got.in {
			if d := differ(got.in[i], exp.in[i]); d != "" {
				return fmt.Sprintf("call %d, input %d behind the call: %s", k, i, d)
			}
		}
		if !stateful {
			continue
		}
		for name, a := range exp.state {
			if b := got.state[name]; b != nil {
				if d := differ(b, a); d != "" {
					return fmt.Sprintf("call %d, state %s: %s", k, name, d)
				}
			}
		}
	}
	return ""
}

// tolerance bounds relative differences; engines may fuse.
func tolerance(d array.DType) float64 {
	switch d {
	case array.F64:
		return 1e-9
	case array.F16:
		return 1e-2
	case array.BF16:
		return 5e-2
	}
	return 1e-4
}

func differ(got, want *array.Array) string {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Sprintf("%s%v, eager has %s%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	tol := 0.0
	if want.DType().IsFloat() {
		tol = tolerance(want.DType())
	}
	for i := range want.Len() {
		g, w := array.Float64At(got, i), array.Float64At(want, i)
		if g == w || g != g && w != w || math.Abs(g-w) <= tol*(1+math.Abs(w)) {
			continue
		}
		return fmt.Sprintf("got %s, eager has %s", array.Format(got, 16), array.Format(want, 16))
	}
	return ""
}
