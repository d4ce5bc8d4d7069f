package judge

import (
	"reflect"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// moved guards by: programs run with it as it is, or alone with other values.
var moved struct {
	sync.RWMutex
	by int
}

// Number is a number of a program, another one while the program runs again.
func Number[T int | float64](x T) T {
	switch v := any(x).(type) {
	case float64:
		return T(v + float64(moved.by)/4)
	}
	return x + T(moved.by)
}

// Position is a position of a program, another valid one while the program runs again.
func Position(i int) int {
	switch {
	case moved.by%2 == 0:
		return i
	case i > 0:
		return i - 1
	}
	return -1 - i // the other end, for select
}

// Bound is one end of a slice from the position start on.
func Bound(start, end int) int {
	if moved.by%2 == 0 || start <= 0 {
		return end
	}
	return end - 1
}

// variant is how a program runs again.
type variant struct{ size, by int }

func variants(p Entry) (list []variant) {
	for _, by := range []int{0, 1, 2, 3, 1, 0} {
		for _, n := range []int{p.N, 5, 7, 2, 9, 3, 1} {
			list = append(list, variant{n, by})
		}
	}
	return list
}

// again runs a program many times with one state in one session, each time with other
// sizes, numbers and positions: what is compiled for one may serve others.
func again(p Entry) (list []Verdict) {
	moved.Lock()
	defer func() {
		moved.by = 0
		moved.Unlock()
	}()
	all := variants(p)
	fit := all[:0]
	for _, v := range all { // one that fails leaves a state that nothing is said about
		if r := sequence(p, []variant{v, v}, p.New(), nil); r.failed == nil {
			fit = append(fit, v)
		}
	}
	if len(fit) < len(all)/2 {
		return []Verdict{{ID: p.ID, Capture: "session", Engine: "lazy-again", Size: p.N, Kind: Excluded, Code: "fails"}}
	}
	want := sequence(p, fit, p.New(), nil)
	for _, way := range []struct {
		name    string
		options lazy.Options
	}{
		{"lazy-again", lazy.Options{Warm: 1, Threads: 1}},
		{"lazy-again-rounding", lazy.Options{Rounding: true, Threads: 1, Scalars: lazy.Always}},
	} {
		s := lazy.New(way.options)
		got := sequence(p, fit, p.New(), func(f reflect.Value, in []*array.Array) ([]*array.Array, error) { return invokeIn(s, f, in) })
		k, code, detail := Different, "", ""
		if !way.options.Rounding {
			detail = got.otherBits(want)
		}
		if detail == "" {
			k, code, detail = (engine{name: way.name, exclude: []diag.Code{alias.NoInverse}}).verdict(got, want, false)
		}
		list = append(list, Verdict{ID: p.ID, Capture: "session", Engine: way.name, Size: p.N, Kind: k, Code: code, Detail: detail})
	}
	return append(list, tabled(p, fit)...)
}

// sequence runs one instance of a program in variants, eagerly where do is nil.
func sequence(p Entry, list []variant, i Instance, do func(f reflect.Value, in []*array.Array) ([]*array.Array, error)) *run {
	f := reflect.ValueOf(i.Target)
	if f.Kind() == reflect.Pointer {
		f = f.MethodByName("Forward")
	}
	r := &run{}
	for k, v := range list {
		moved.by = v.by
		in := inputs(p, v.size, k)
		out, err, crash := guarded(func(in []*array.Array) ([]*array.Array, error) {
			if do == nil {
				return invoke(f, in), nil
			}
			return do(f, in)
		}, in)
		if err != nil {
			r.failed, r.crash = err, crash
			return r
		}
		c := call{out: copies(out), in: copies(in), state: map[string]*array.Array{}}
		for name, a := range held(i) {
			c.state[name] = copied(a)
		}
		r.calls = append(r.calls, c)
	}
	return r
}

// invokeIn calls a function in a session. Its inputs are as it leaves them afterwards.
func invokeIn(s *lazy.Session, f reflect.Value, in []*array.Array) ([]*array.Array, error) {
	args := make([]*tensor.Tensor, len(in))
	for k, a := range in {
		args[k] = s.In(tensor.New(a))
	}
	out := invokeOn(f, args)
	if err := s.Barrier(); err != nil {
		return nil, err
	}
	s.Wait()
	for k, x := range args {
		array.Copy(in[k], x.Array())
	}
	return out, nil
}
