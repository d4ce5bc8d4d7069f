package judge

import (
	"fmt"
	"reflect"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// sessions are the ways in which programs run in a session: call by call and then as compiled
// graphs, whose bits are eager code's; cut where they become long; with plans that round.
var sessions = []struct {
	name    string
	options lazy.Options
}{
	{"lazy", lazy.Options{Warm: 1, Threads: 1}},
	{"lazy-cut", lazy.Options{Warm: 1, Threads: 1, MaxTrace: 3}},
	{"lazy-rounding", lazy.Options{Rounding: true, Threads: 1}},
}

// lazily runs a program in sessions.
func lazily(p Entry, want func(n int) *run) (list []Verdict) {
	for _, way := range sessions {
		for _, n := range many(p) {
			got := session(p, n, way.options)
			if !way.options.Rounding {
				if d := got.otherBits(want(n)); d != "" {
					list = append(list, Verdict{ID: p.ID, Capture: "session", Engine: way.name, Size: n, Kind: Different, Detail: d})
					break
				}
			}
			k, code, detail := (engine{name: way.name, exclude: []diag.Code{alias.NoInverse}}).verdict(got, want(n), false)
			list = append(list, Verdict{ID: p.ID, Capture: "session", Engine: way.name, Size: n, Kind: k, Code: code, Detail: detail})
			if k.Bad() {
				break
			}
		}
	}
	return list
}

// session runs a program in one session. State is read as the model has it after a barrier.
func session(p Entry, n int, o lazy.Options) *run {
	s := lazy.New(o)
	i := p.New()
	f := reflect.ValueOf(i.Target)
	if f.Kind() == reflect.Pointer {
		f = f.MethodByName("Forward")
	}
	return repeat(p, n, func(in []*array.Array) ([]*array.Array, error) {
		return invokeIn(s, f, in)
	}, func() map[string]*array.Array {
		return held(i)
	})
}

// held is the state of an instance as a barrier leaves it: memory of the model, or a value of
// the session that the program has put in its place.
func held(i Instance) map[string]*array.Array {
	all := map[string]*array.Array{}
	for name, x := range named(i) {
		a, eager := x.Value().(*array.Array)
		if !eager {
			a = x.Array()
		}
		all[name] = a
	}
	return all
}

// otherBits says where two runs have results or state of other bits, "" where they have none.
func (r *run) otherBits(want *run) string {
	for k := range min(len(r.calls), len(want.calls)) {
		for i, a := range want.calls[k].out {
			if i < len(r.calls[k].out) && !array.Equal(r.calls[k].out[i], a) {
				return fmt.Sprintf("call %d, result %d: other bits than eager code", k, i)
			}
		}
		for name, a := range want.calls[k].state {
			if b := r.calls[k].state[name]; b != nil && !array.Equal(b, a) {
				return fmt.Sprintf("call %d, state %s: other bits than eager code", k, name)
			}
		}
	}
	return ""
}
