package compiled

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/internal/testkit/twins"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// globals are variables that programs write; both worlds have their own values of them.
type globals struct {
	gain    float64
	counter int64
	hidden  []float64
}

func (g *globals) swap() {
	gain, g.gain = g.gain, gain
	counter, g.counter = g.counter, counter
	hidden, g.hidden = g.hidden, hidden
}

func newGlobals() globals { return globals{1.5, 0, []float64{2, 3}} }

// judge calls a program as it is, compiled, and in a lazy session: in three worlds.
type judge struct {
	t                  *testing.T
	p                  *program
	call               func(*world) []any
	stats              func() compile.Stats
	session            *lazy.Session
	plain, comp, lazy  *world
	gPlain, gComp, gLz globals
}

func newJudge(t *testing.T, p *program, o ...compile.Option) *judge {
	call, stats := p.compiled(o...)
	j := &judge{t: t, p: p, call: call, stats: stats, session: lazy.New(lazy.Options{Synchronous: true})}
	t.Cleanup(func() { require.NoError(t, j.session.Close()) })
	j.plain, j.comp, j.lazy = newWorld(), newWorld(), newWorld()
	j.enter()
	return j
}

// enter has the arguments of the session's world belong to it.
func (j *judge) enter() {
	j.lazy.X, j.lazy.Y = j.session.In(j.lazy.X), j.session.In(j.lazy.Y)
	j.gPlain, j.gComp, j.gLz = newGlobals(), newGlobals(), newGlobals()
}

// recorded calls the program in the session and has it compute what it has recorded.
func (j *judge) recorded(w *world) []any {
	out := j.p.plain(w)
	if err := j.session.Barrier(); err != nil {
		panic(err)
	}
	return out
}

// run calls a function on a world, and keeps what it returns, or panics with.
func run(w *world, g *globals, f func(*world) []any) {
	g.swap()
	defer g.swap()
	defer func() {
		if e := recover(); e != nil {
			w.kept = append(w.kept, fmt.Sprint(e))
		}
	}()
	w.kept = append(w.kept, f(w)...)
	if len(w.kept) > 6 {
		w.kept = w.kept[len(w.kept)-6:]
	}
}

// all calls the program in each way, and compares the worlds.
func (j *judge) all(what string) {
	j.t.Helper()
	run(j.plain, &j.gPlain, j.p.plain)
	run(j.comp, &j.gComp, j.call)
	run(j.lazy, &j.gLz, j.recorded)
	type all struct {
		W *world
		G *globals
	}
	want := &all{j.plain, &j.gPlain}
	require.Empty(j.t, twins.Differ(want, &all{j.comp, &j.gComp}), "%s, compiled: %s", j.p.name, what)
	require.Empty(j.t, twins.DifferLazily(want, &all{j.lazy, &j.gLz}), "%s, lazy: %s", j.p.name, what)
}

// reset makes new worlds in the place of the old ones: the receiver stays the same object.
func (j *judge) reset() {
	for _, w := range []*world{j.plain, j.comp, j.lazy} {
		n := newWorld()
		*w.M = *n.M
		w.X, w.Y, w.kept = n.X, n.Y, nil
	}
	j.enter()
}

// changes lists ways to change one word that a value leads to, with the word's path; the list is in the same order for
// worlds that are alike.
func changes(v reflect.Value, path string, seen map[reflect.Value]bool, add func(path string, f func())) {
	switch v.Kind() {
	case reflect.Pointer:
		if x, ok := v.Interface().(*tensor.Tensor); ok {
			if x != nil {
				add(path+" written", func() { x.AddScalarInPlace(1) })
				add(path+" replaced", func() { v.Set(reflect.ValueOf(x.MulScalar(3))) })
				if x.Rank() == 0 {
					return
				}
				add(path+" longer", func() { v.Set(reflect.ValueOf(tensor.Cat([]*tensor.Tensor{x, x}, 0))) })
			}
			return
		}
		if v.IsNil() {
			return
		}
		if !seen[v.Elem()] {
			seen[v.Elem()] = true
			changes(v.Elem(), path, seen, add)
		}
		add(path+" copied", func() { c := reflect.New(v.Type().Elem()); c.Elem().Set(v.Elem()); v.Set(c) })
		add(path+" nil", func() { v.SetZero() })
	case reflect.Struct:
		for i := range v.NumField() {
			changes(peek.Field(v, i), path+"."+v.Type().Field(i).Name, seen, add)
		}
	case reflect.Slice:
		add(path+" shorter", func() { v.SetLen(v.Len() - min(v.Len(), 1)) })
		add(path+" clipped", func() { v.SetCap(v.Len()) })
		add(path+" nil", func() { v.SetZero() })
		if v.Len() > 1 {
			add(path+" shared", func() { v.Index(0).Set(v.Index(1)) })
		}
		full := v.Slice(0, v.Cap())
		for i := range full.Len() {
			changes(full.Index(i), fmt.Sprint(path, "[", i, "]"), seen, add)
		}
	case reflect.Array:
		for i := range v.Len() {
			changes(v.Index(i), fmt.Sprint(path, "[", i, "]"), seen, add)
		}
	case reflect.Map:
		add(path+" nil", func() { v.SetZero() })
		for _, k := range v.MapKeys() {
			at := fmt.Sprint(path, "[", k, "]")
			add(at+" gone", func() { v.SetMapIndex(k, reflect.Value{}) })
			add(at+" zero", func() { v.SetMapIndex(k, reflect.Zero(v.Type().Elem())) })
		}
	case reflect.Interface:
		add(path+" nil", func() { v.SetZero() })
		for _, x := range []any{int64(1000), 1001, "text", Shift(3), Affine{1, 2}, &Leaky{0.5}} {
			if reflect.TypeOf(x).Implements(v.Type()) {
				add(fmt.Sprintf("%s a %T", path, x), func() { v.Set(reflect.ValueOf(x)) })
			}
		}
	case reflect.Func:
		add(path+" nil", func() { v.SetZero() })
		add(path+" another", func() { v.Set(reflect.ValueOf(Triple)) })
	case reflect.Bool:
		add(path, func() { v.SetBool(!v.Bool()) })
	case reflect.String:
		add(path, func() { v.SetString("tanh") })
	case reflect.Float32, reflect.Float64:
		add(path, func() { v.SetFloat(v.Float() + 1) })
	case reflect.Complex64:
		add(path, func() { v.SetComplex(v.Complex() + 1i) })
	case reflect.Uint8, reflect.Uint64:
		add(path, func() { v.SetUint(v.Uint() + 1) })
	default:
		add(path, func() { v.SetInt(v.Int() + 1) })
	}
}

type change struct {
	path string
	do   func()
}

// changesOf lists the changes of a world. The order of maps does not count: keys are looked up by path.
func changesOf(w *world, g *globals) (list []change) {
	type all struct {
		M    *Model
		X, Y **tensor.Tensor
		G    *globals
	}
	seen := map[reflect.Value]bool{}
	add := func(path string, f func()) { list = append(list, change{path, f}) }
	v := reflect.ValueOf(&all{w.M, &w.X, &w.Y, g}).Elem()
	for i := range v.NumField() {
		changes(v.Field(i).Elem(), v.Type().Field(i).Name, seen, add)
	}
	return list
}

func named(list []change, path string) func() {
	for _, c := range list {
		if c.path == path {
			return c.do
		}
	}
	return func() {}
}

// Calls that find the same world again are hits, as often as the program's row says.
func TestCounts(t *testing.T) {
	for i := range programs {
		p := &programs[i]
		t.Run(p.name, func(t *testing.T) {
			j := newJudge(t, p)
			for n := range 6 {
				j.all(fmt.Sprint("call ", n))
			}
			s := j.stats()
			require.Equal(t, p.want, counts{s.Records, s.Hits, s.Plain}, "%s", s)
			require.Equal(t, p.misses(), s.Misses, "%s", s)
		})
	}
}

// Every word that a program's world leads to is changed between calls, and changed back with all the rest.
func TestEveryWord(t *testing.T) {
	w := newWorld()
	g := newGlobals()
	paths := changesOf(w, &g)
	require.Greater(t, len(paths), 150)
	for i := range programs {
		p := &programs[i]
		t.Run(p.name, func(t *testing.T) {
			j := newJudge(t, p, compile.Capacity(1000), compile.LiftAfter(1000))
			for n, c := range paths {
				if testing.Short() && n%7 != i%7 {
					continue
				}
				j.reset()
				j.all("before " + c.path)
				named(changesOf(j.plain, &j.gPlain), c.path)()
				named(changesOf(j.comp, &j.gComp), c.path)()
				named(changesOf(j.lazy, &j.gLz), c.path)()
				j.all(c.path)
				j.all(c.path + ", again")
			}
			if s := j.stats(); p.want.hits > 1 {
				require.Positive(t, s.Hits, "%s", s)
			} else if p.class == "dynamic" {
				require.Zero(t, s.Hits, "%s", s)
			}
		})
	}
}

// A count that nothing reads is no word of the guard.
func TestThousandCalls(t *testing.T) {
	f, w := CompileCounts(compile.Strict()), newWorld()
	for range 1000 {
		f.Call(w.M, w.X, w.Y)
	}
	require.Equal(t, compile.Stats{Calls: 1000, Hits: 999, Misses: 1, Captures: 1, Records: 1}, f.Stats())
	require.Equal(t, 7+1000*(1+w.M.Depth), w.M.Steps)
}

// The generated files are those that the programs give: a stale one panics here.
func TestGenerated(t *testing.T) {
	names := map[string]bool{}
	for _, p := range programs {
		require.False(t, names[p.name], p.name)
		names[p.name] = true
		require.NotPanics(t, func() { p.compiled() })
		require.Contains(t, shares, p.class)
		if p.class == "dynamic" {
			require.Equal(t, counts{0, 0, 6}, p.want, p.name)
		}
	}
}

// shares are the programs of each class in hundredths: of all for those that no record can replay, of the others for the rest.
var shares = map[string]float64{"built-in": 47, "object": 35, "effect": 6, "other": 12, "dynamic": 16}

// The programs are spread as real ones are, and records are made of 97 of 100 that can be replayed.
func TestShares(t *testing.T) {
	n, captured := map[string]int{}, 0
	for _, p := range programs {
		if n[p.class]++; p.want.records > 0 {
			captured++
		}
	}
	require.GreaterOrEqual(t, len(programs), 150)
	static := len(programs) - n["dynamic"]
	for class, share := range shares {
		of := static
		if class == "dynamic" {
			of = len(programs)
		}
		require.InDelta(t, share, 100*float64(n[class])/float64(of), 2, class)
	}
	require.GreaterOrEqual(t, float64(captured), 0.97*float64(static))
}
