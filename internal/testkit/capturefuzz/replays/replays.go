// Package replays judges random programs that fxgen has compiled: it calls each as it is, compiled, and in a lazy session, changes
// words of its state and of its arguments between the calls, and says where the three differ in results, state,
// arguments, or in which values are one. Built programs link it; see package capturefuzz.
package replays

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/testkit/twins"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Entry is a program. Vars are the variables of its package, which New gives new values; Target is a module, a closure, or nil.
type Entry = struct {
	ID     int
	Seed   uint64
	N      int
	Inputs []string
	New    func() any
	Vars   []any
	Plain  func(target any) func(in []*tensor.Tensor) []any
	Replay func(target any, o ...compile.Option) (func(in []*tensor.Tensor) []any, func() compile.Stats)
}

// Verdict is the outcome of one program.
type Verdict struct {
	ID      int
	Way     string // "compiled", "session"; of Detail
	Detail  string // of the first difference, "" where there is none
	Panics  int    // calls that panic, in each way
	Session int    // calls that were compared with a session's
	Stats   compile.Stats
}

var entries []Entry

// Enter adds a program.
func Enter(e Entry) { entries = append(entries, e) }

// Main judges all programs that were entered, and writes a verdict a line.
func Main() {
	out := flag.String("out", "", "file for the verdicts")
	flag.Parse()
	f, err := os.Create(*out)
	check(err)
	enc := json.NewEncoder(f)
	for _, e := range entries {
		t := time.AfterFunc(2*time.Minute, func() { check(fmt.Errorf("the program of seed %d does not end", e.Seed)) })
		check(enc.Encode(Judge(e)))
		t.Stop()
	}
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// calls is how often a program is called.
const calls = 28

// options are those of compiled functions, by the seed.
var options = [][]compile.Option{nil, {compile.Audit(2)}, {compile.LiftAfter(1)}, {compile.Capacity(2), compile.Audit(3)}}

// world is what one way of calling a program sees.
type world struct {
	Target any
	Vars   []any
	In     []*tensor.Tensor
	Out    []any
	call   func(in []*tensor.Tensor) []any
}

// Judge calls one program.
func Judge(e Entry) Verdict {
	j := &judge{Entry: e, r: rand.New(rand.NewPCG(e.Seed, 0xca11)), v: Verdict{ID: e.ID}}
	for i := range j.worlds {
		j.worlds[i] = &world{Target: e.New()}
		j.leave(j.worlds[i])
	}
	plain, comp, sess := j.worlds[0], j.worlds[1], j.worlds[2]
	plain.call, sess.call = e.Plain(plain.Target), e.Plain(sess.Target)
	var stats func() compile.Stats
	comp.call, stats = e.Replay(comp.Target, options[int(e.Seed)%len(options)]...)
	j.session = lazy.New(lazy.Options{Synchronous: true, Threads: 1})
	defer func() {
		if j.session != nil {
			check(j.session.Close())
		}
	}()
	for n := 0; n < calls && j.v.Detail == ""; n++ {
		what := "the first call"
		if n == 0 || j.r.IntN(5) < 1+2*int(j.Seed%2) { // sizes become symbols after some that differ
			j.arguments()
		}
		if n > 0 {
			what = j.change()
		}
		j.all(fmt.Sprintf("call %d, %s", n, what))
	}
	j.v.Stats = stats()
	return j.v
}

type judge struct {
	Entry
	r       *rand.Rand
	worlds  [3]*world
	session *lazy.Session // nil once it is compared no more
	v       Verdict
}

// enter gives the variables their values of a world, leave keeps them.
func (j *judge) enter(w *world) {
	for i, p := range j.Vars {
		reflect.ValueOf(p).Elem().Set(reflect.ValueOf(w.Vars[i]))
	}
}

func (j *judge) leave(w *world) {
	w.Vars = nil
	for _, p := range j.Vars {
		w.Vars = append(w.Vars, reflect.ValueOf(p).Elem().Interface())
	}
}

// arguments makes new arguments, sometimes of other sizes, or one tensor twice.
func (j *judge) arguments() {
	n := j.N
	if most := 6 * (1 + int(j.Seed%2)); j.r.IntN(3) < most/6 {
		n = 1 + j.r.IntN(most)
	}
	twice := j.r.IntN(6) == 0
	for _, w := range j.worlds {
		if w != nil {
			w.In = nil
		}
	}
	for i, spec := range j.Inputs {
		t, err := shape.ParseType(strings.ReplaceAll(spec, "N", fmt.Sprint(n)))
		check(err)
		d, dims, _ := t.Concrete()
		a := array.New(d, dims...)
		for k := range a.Len() {
			array.SetFloat64At(a, k, float64(number(d, j.r.IntN(33)-16)))
		}
		for k, w := range j.worlds {
			switch {
			case w == nil:
			case twice && i > 0 && j.Inputs[i-1] == spec:
				w.In = append(w.In, w.In[i-1])
			case k == 2:
				w.In = append(w.In, j.session.In(tensor.New(array.Clone(a))))
			default:
				w.In = append(w.In, tensor.New(array.Clone(a)))
			}
		}
	}
}

// number is a number of a type, a multiple of 1/8.
func number(d array.DType, n int) float64 {
	switch {
	case d == array.Bool:
		return float64(n & 1)
	case d.IsFloat():
		return float64(n) / 8
	}
	return float64(n / 4)
}

// run calls a program in a world. It keeps the results of the last calls.
func (j *judge) run(w *world, barrier bool) (failed string) {
	j.enter(w)
	defer j.leave(w)
	defer func() {
		if e := recover(); e != nil {
			failed = fmt.Sprint(e)
		}
	}()
	out := w.call(w.In)
	if barrier {
		check(j.session.Barrier())
	}
	if w.Out = append(w.Out, out...); len(w.Out) > 6 {
		w.Out = w.Out[len(w.Out)-6:]
	}
	return ""
}

// all calls the program in each way, and compares.
func (j *judge) all(what string) {
	plain, comp, sess := j.worlds[0], j.worlds[1], j.worlds[2]
	a, b := j.run(plain, false), j.run(comp, false)
	type seen struct {
		Target any
		Vars   []any
		In     []*tensor.Tensor
		Out    []any
	}
	of := func(w *world) *seen { return &seen{w.Target, w.Vars, w.In, w.Out} }
	if a != "" {
		j.v.Panics++
	}
	switch d := twins.Differ(of(plain), of(comp)); {
	case a != b && (a == "" || b == "" || where(a) != where(b)): // a session has codes of its own for some mistakes
		j.v.Way, j.v.Detail = "compiled", fmt.Sprintf("%s: panics with %q, compiled with %q", what, a, b)
	case d != "":
		j.v.Way, j.v.Detail = "compiled", what+": "+d
	}
	if j.session == nil || j.v.Detail != "" {
		return
	}
	if c := j.run(sess, true); a != "" || c != "" { // a session may refuse what eager code does, and fails later than it
		j.over()
		return
	}
	j.v.Session++
	if d := twins.DifferLazily(of(plain), of(sess)); d != "" {
		j.v.Way, j.v.Detail = "session", what+": "+d
	}
}

// where is the line that a mistake names, the mistake itself where it names none.
func where(mistake string) string {
	if at, _, ok := strings.Cut(mistake, ": "); ok {
		return at
	}
	return mistake
}

// over ends the comparison with a session.
func (j *judge) over() {
	check(j.session.Close())
	j.worlds[2], j.session = nil, nil
}
