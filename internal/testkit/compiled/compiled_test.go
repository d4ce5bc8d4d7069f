package compiled

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/peek"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/zoo/words"
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

// changer lists ways to change one word that a value leads to, in the same order for worlds that are alike.
type changer struct {
	seen  map[reflect.Value]bool
	list  []change
	owner reflect.Type // the struct and its field that a word is of, or lies in
	field string
}

// change is a change of a word.
type change struct {
	path  string
	owner reflect.Type
	field string
	basic bool
	do    func()
}

func (c *changer) add(path string, f func()) {
	c.list = append(c.list, change{path, c.owner, c.field, false, f})
}

func (c *changer) value(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		c.pointer(v, path)
	case reflect.Struct:
		owner, field := c.owner, c.field
		for i := range v.NumField() {
			c.owner, c.field = v.Type(), v.Type().Field(i).Name
			c.value(peek.Field(v, i), path+"."+c.field)
		}
		c.owner, c.field = owner, field
	case reflect.Slice:
		c.add(path+" shorter", func() { v.SetLen(v.Len() - min(v.Len(), 1)) })
		c.add(path+" clipped", func() { v.SetCap(v.Len()) })
		c.add(path+" nil", func() { v.SetZero() })
		if v.Len() > 1 {
			c.add(path+" shared", func() { v.Index(0).Set(v.Index(1)) })
		}
		full := v.Slice(0, v.Cap())
		for i := range full.Len() {
			c.value(full.Index(i), fmt.Sprint(path, "[", i, "]"))
		}
	case reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i), fmt.Sprint(path, "[", i, "]"))
		}
	case reflect.Map:
		c.add(path+" nil", func() { v.SetZero() })
		for _, k := range v.MapKeys() {
			at := fmt.Sprint(path, "[", k, "]")
			c.add(at+" gone", func() { v.SetMapIndex(k, reflect.Value{}) })
			c.add(at+" zero", func() { v.SetMapIndex(k, reflect.Zero(v.Type().Elem())) })
		}
	case reflect.Interface:
		c.add(path+" nil", func() { v.SetZero() })
		for _, x := range []any{int64(1000), 1001, "text", Shift(3), Affine{1, 2}, &Leaky{0.5}} {
			if reflect.TypeOf(x).Implements(v.Type()) {
				c.add(fmt.Sprintf("%s a %T", path, x), func() { v.Set(reflect.ValueOf(x)) })
			}
		}
	case reflect.Func:
		c.add(path+" nil", func() { v.SetZero() })
		c.add(path+" another", func() { v.Set(reflect.ValueOf(Triple)) })
	default:
		c.add(path, func() { raise(v) })
		c.list[len(c.list)-1].basic = true
	}
}

func (c *changer) pointer(v reflect.Value, path string) {
	if x, ok := v.Interface().(*tensor.Tensor); ok {
		if x == nil {
			return
		}
		c.add(path+" written", func() { x.AddScalarInPlace(1) })
		c.add(path+" replaced", func() { v.Set(reflect.ValueOf(x.MulScalar(3))) })
		if x.Rank() > 0 {
			c.add(path+" longer", func() { v.Set(reflect.ValueOf(tensor.Cat([]*tensor.Tensor{x, x}, 0))) })
		}
		return
	}
	if v.IsNil() {
		return
	}
	if !c.seen[v.Elem()] {
		c.seen[v.Elem()] = true
		c.value(v.Elem(), path)
	}
	c.add(path+" copied", func() { n := reflect.New(v.Type().Elem()); n.Elem().Set(v.Elem()); v.Set(n) })
	c.add(path+" nil", func() { v.SetZero() })
}

// raise changes a value of a basic type.
func raise(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		v.SetString("tanh")
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	case v.CanComplex():
		v.SetComplex(v.Complex() + 1i)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	default:
		v.SetInt(v.Int() + 1)
	}
}

// changesOf lists the changes of a world. The order of maps does not count: keys are looked up by path.
func changesOf(w *world, g *globals) []change {
	type all struct {
		M    *Model
		X, Y **tensor.Tensor
		G    *globals
	}
	c := &changer{seen: map[reflect.Value]bool{}}
	v := reflect.ValueOf(&all{w.M, &w.X, &w.Y, g}).Elem()
	for i := range v.NumField() {
		c.value(v.Field(i).Elem(), v.Type().Field(i).Name)
	}
	return c.list
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
			require.Equal(t, p.want, counts{s.Records, s.Hits, s.Plain + s.Lazy}, "%s", s)
			if p.want.records == 0 { // records are looked for where some calls have one
				require.Contains(t, []int{0, 6}, s.Misses, "%s", s)
			} else {
				require.Equal(t, p.misses(), s.Misses, "%s", s)
			}
		})
	}
}

// Every word that a program's table lists, and some of the others, are changed between calls, and changed back with all
// the rest. Numbers of the model that the table lacks are no misses.
func TestEveryWord(t *testing.T) {
	g := newGlobals()
	paths := changesOf(newWorld(), &g)
	require.Greater(t, len(paths), 200)
	file := words.Open(t, "fx_compile.go", "fx_breaks.go", "fx_inputs.go")
	for i := range programs {
		p := &programs[i]
		t.Run(p.name, func(t *testing.T) {
			j := newJudge(t, p, compile.Capacity(1000), compile.LiftAfter(1000))
			table := file.Table(p.constructor())
			for n, c := range paths {
				model := c.owner == reflect.TypeFor[Model]()
				unread := c.path == "M."+c.field && c.basic && !table.Lists(c.owner, c.field)
				if listed := c.owner != nil && table.Lists(c.owner, c.field); (testing.Short() && n%7 != i%7) || model && !listed && n%5 != i%5 {
					continue
				}
				j.reset()
				j.all("before " + c.path)
				named(changesOf(j.plain, &j.gPlain), c.path)()
				named(changesOf(j.comp, &j.gComp), c.path)()
				named(changesOf(j.lazy, &j.gLz), c.path)()
				misses := j.stats().Misses
				j.all(c.path)
				if unread && p.want == (counts{1, 5, 0}) {
					require.Equal(t, misses, j.stats().Misses, c.path)
				}
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
		if p.class != "break" {
			require.Contains(t, shares, p.class)
		}
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
	all := 0
	for _, p := range programs {
		if p.class == "break" { // no case of the paper's
			continue
		}
		all++
		if n[p.class]++; p.want.records > 0 {
			captured++
		}
	}
	require.GreaterOrEqual(t, all, 150)
	static := all - n["dynamic"]
	for class, share := range shares {
		of := static
		if class == "dynamic" {
			of = all
		}
		require.InDelta(t, share, 100*float64(n[class])/float64(of), 2, class)
	}
	require.GreaterOrEqual(t, float64(captured), 0.97*float64(static))
}
