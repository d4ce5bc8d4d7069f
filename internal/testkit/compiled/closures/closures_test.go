package closures

import (
	"fmt"
	"io"
	"log"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/testkit/twins"
	"github.com/gofx-dev/gofx/tensor"
)

// world is what closures are made of.
type world struct {
	M     *Model
	N     *int
	Items []int
	X, Y  *tt
	mixed [2]func(*tt) *tt // of which the first is of another model
}

func newWorld() *world {
	of := func(v ...float32) *tt { return tensor.FromSlice(v, 2, 2) }
	w := &world{N: new(int), Items: []int{4, 5}, X: of(-1, 2, -3, 4), Y: of(5, 6, 7, 8)}
	w.M, w.mixed[1] = Mixed(of(1, 2, 3, 4), w.Items, true)
	_, w.mixed[0] = Mixed(w.M.W, w.Items, false)
	return w
}

// made is one closure, as it is or compiled.
type made func(*world) []any

// row is a kind of closure: how it is made of a world, and its compiled form.
type row struct {
	name     string
	plain    func(*world) made
	compiled func(*world, ...compile.Option) (made, func() compile.Stats)
	records  int // of six equal calls
	hits     int
}

func one(name string, maker func(*world) func(*tt) *tt, compiled func(func(*tt) *tt, ...compile.Option) (func(*tt) *tt, func() compile.Stats), records, hits int) row {
	call := func(f func(*tt) *tt) made { return func(w *world) []any { return []any{f(w.X)} } }
	return row{name, func(w *world) made { return call(maker(w)) }, func(w *world, o ...compile.Option) (made, func() compile.Stats) {
		f, stats := compiled(maker(w), o...)
		return call(f), stats
	}, records, hits}
}

// with joins a constructor with its methods.
func with[C interface {
	Call(*tt) *tt
	Stats() compile.Stats
}](made func(func(*tt) *tt, ...compile.Option) C) func(func(*tt) *tt, ...compile.Option) (func(*tt) *tt, func() compile.Stats) {
	return func(f func(*tt) *tt, o ...compile.Option) (func(*tt) *tt, func() compile.Stats) {
		c := made(f, o...)
		return c.Call, c.Stats
	}
}

var rows = []row{
	one("step", func(w *world) func(*tt) *tt { return NewStep(w.M, 0.5) }, with(CompileNewStep), 1, 5),
	one("mixed", func(w *world) func(*tt) *tt { return w.mixed[1] }, with(CompileNewMixed), 1, 5),
	one("mixed, off", func(w *world) func(*tt) *tt { return w.mixed[0] }, with(CompileNewMixed), 1, 5),
	{"counter", func(w *world) made {
		f := NewCounter(w.M, w.N)
		return func(w *world) []any { x, n := f(w.X); return []any{x, n} }
	}, func(w *world, o ...compile.Option) (made, func() compile.Stats) {
		f := CompileNewCounter(NewCounter(w.M, w.N), o...)
		return func(w *world) []any { x, n := f.Call(w.X); return []any{x, n} }, f.Stats
	}, 6, 0},
	{"checked", func(w *world) made {
		f, _ := NewChecked(w.M)
		return func(w *world) []any { return []any{f(w.X, w.Y)} }
	}, func(w *world, o ...compile.Option) (made, func() compile.Stats) {
		g, _ := NewChecked(w.M)
		f := CompileNewChecked(g, o...)
		return func(w *world) []any { return []any{f.Call(w.X, w.Y)} }, f.Stats
	}, 1, 5},
	{"stepper", func(w *world) made {
		f := w.M.Stepper(3)
		return func(w *world) []any { return []any{f(w.X, w.Y)} }
	}, func(w *world, o ...compile.Option) (made, func() compile.Stats) {
		f := CompileModelStepper(w.M.Stepper(3), o...)
		return func(w *world) []any { return []any{f.Call(w.X, w.Y)} }, f.Stats
	}, 1, 5},
	{"plain", func(*world) made { return func(w *world) []any { return []any{Plain(w.M, w.X)} } }, func(_ *world, o ...compile.Option) (made, func() compile.Stats) {
		f := CompilePlain(Plain, o...)
		return func(w *world) []any { return []any{f.Call(w.M, w.X)} }, f.Stats
	}, 1, 5},
	one("nested", func(w *world) func(*tt) *tt { return NewNested(w.M, 1.5) }, with(CompileNewNested), 1, 5),
	one("calls", func(*world) func(*tt) *tt { return NewCalls(Acts[1]) }, with(CompileNewCalls), 1, 5),
	one("logged, off", func(w *world) func(*tt) *tt { return NewLogged(w.M, false) }, with(CompileNewLogged), 1, 5),
	one("logged", func(w *world) func(*tt) *tt { return NewLogged(w.M, true) }, with(CompileNewLogged), 0, 0),
	one("local", func(w *world) func(*tt) *tt { return NewLocal(w.M, 2, 1) }, with(CompileNewLocal), 1, 5),
	one("rebound", func(w *world) func(*tt) *tt { return NewRebound(w.M, 0) }, with(CompileNewRebound), 1, 5),
	one("looks", func(w *world) func(*tt) *tt { return NewLooks(w.M) }, with(CompileNewLooks), 1, 5),
}

// changes are done between calls, to the world of each.
var changes = []struct {
	name string
	do   func(*world)
}{
	{"nothing", func(*world) {}},
	{"W is written", func(w *world) { w.M.W.AddScalarInPlace(1) }},
	{"W is another tensor", func(w *world) { w.M.W = w.M.W.MulScalar(2) }},
	{"Scale", func(w *world) { w.M.Scale++ }},
	{"Steps", func(w *world) { w.M.Steps += 7 }},
	{"Debug", func(w *world) { w.M.Debug = !w.M.Debug }},
	{"a layer's number", func(w *world) { w.M.Layers[1].B++ }},
	{"another layer", func(w *world) { w.M.Layers = append(w.M.Layers, &Layer{5}) }},
	{"an entry", func(w *world) { w.M.Table["bias"]++ }},
	{"a number", func(w *world) { *w.N += 5 }},
	{"an item", func(w *world) { w.Items[1]++ }},
	{"a longer argument", func(w *world) { w.X = tensor.Cat([]*tt{w.X, w.X}, 0) }},
	{"W is as long", func(w *world) { w.M.W, w.Y = tensor.Cat([]*tt{w.M.W, w.M.W}, 0), tensor.Cat([]*tt{w.Y, w.Y}, 0) }},
}

// call calls a closure, and returns what it returns or panics with.
func call(f made, w *world) (out []any) {
	defer func() {
		if e := recover(); e != nil {
			out = []any{fmt.Sprint(e)}
		}
	}()
	return f(w)
}

func quiet(t *testing.T) {
	was := log.Writer()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(was) })
}

// Closures and their compiled forms do the same, whatever is changed between calls.
func TestChanges(t *testing.T) {
	quiet(t)
	for _, r := range rows {
		for _, o := range [][]compile.Option{nil, {compile.Audit(1)}, {compile.LiftAfter(1)}} {
			a, b := newWorld(), newWorld()
			plain := r.plain(a)
			comp, _ := r.compiled(b, o...)
			type all struct {
				W   *world
				Out []any
			}
			for _, c := range changes {
				c.do(a)
				c.do(b)
				for n := range 3 {
					want, got := call(plain, a), call(comp, b)
					require.Empty(t, twins.Differ(&all{a, want}, &all{b, got}), "%s: %s, call %d", r.name, c.name, n)
				}
			}
		}
	}
}

// Calls that find the same world again are hits.
func TestCounts(t *testing.T) {
	quiet(t)
	for _, r := range rows {
		w := newWorld()
		f, stats := r.compiled(w)
		for range 6 {
			f(w)
		}
		s := stats()
		require.Equal(t, []int{r.records, r.hits}, []int{s.Records, s.Hits}, "%s: %s", r.name, s)
	}
}

func same(t *testing.T, want, got *tt) {
	t.Helper()
	require.True(t, array.Equal(want.Array(), got.Array()), "want %v, got %v", want, got)
}

// Two closures of one literal have records of their own.
func TestTwoClosures(t *testing.T) {
	w := newWorld()
	var bound [2]*CompiledNewStep
	for i, lr := range []float32{0.5, 2} {
		bound[i] = CompileNewStep(NewStep(&Model{W: w.M.W, Scale: float64(i + 1)}, lr), compile.Strict())
	}
	for range 3 {
		same(t, w.X.Mul(w.M.W).MulScalar(0.5), bound[0].Call(w.X))
		same(t, w.X.Mul(w.M.W).MulScalar(4), bound[1].Call(w.X))
	}
	require.Equal(t, 2, bound[0].Stats().Hits)
}

// inlined is made where the compiler has inlined the maker.
var inlined = NewStep(&Model{W: tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2), Scale: 3}, 0.25)

//go:noinline
func apart(m *Model, lr float32) func(*tt) *tt { return NewStep(m, lr) }

// Copies of a literal that the compiler has made are known.
func TestInlinedMakers(t *testing.T) {
	w := newWorld()
	for _, f := range []func(*tt) *tt{inlined, apart(w.M, 2), NewStep(w.M, 2)} {
		same(t, f(w.X), CompileNewStep(f, compile.Strict()).Call(w.X))
	}
	for i := range 3 {
		f, g := NewStep(w.M, float32(i)+2), NewRebound(w.M, float64(i))
		same(t, f(w.X), CompileNewStep(f, compile.Strict()).Call(w.X))
		same(t, g(w.X), CompileNewRebound(g, compile.Strict()).Call(w.X))
	}
}

// Other functions are refused.
func TestOtherFunctions(t *testing.T) {
	w := newWorld()
	for _, f := range []func(*tt) *tt{nil, NewNested(w.M, 2), NewLocal(w.M, 1, 2), Shift(2).Apply, tensor.Relu, func(x *tt) *tt { return NewStep(w.M, 1)(x) }} {
		e := func() (e any) {
			defer func() { e = recover() }()
			CompileNewStep(f)
			return nil
		}()
		require.ErrorContains(t, e.(error), "FX1070")
		require.ErrorContains(t, e.(error), "the function literal at programs.go:")
	}
}

// The objects that a closure has captured go with it and its compiled form.
func TestClosuresGo(t *testing.T) {
	gone := make(chan bool, 1)
	func() {
		m := newWorld().M
		runtime.AddCleanup(m, func(int) { gone <- true }, 0)
		f := CompileNewStep(NewStep(m, 2))
		for range 3 {
			f.Call(newWorld().X)
		}
		require.Equal(t, 2, f.Stats().Hits)
	}()
	for range 20 {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
			runtime.Gosched()
		}
	}
	t.Fatal("the model is held")
}

// Calls on several goroutines give what the closure gives.
func TestGoroutines(t *testing.T) {
	w := newWorld()
	f := CompileNewStep(NewStep(w.M, 2))
	want := NewStep(w.M, 2)(w.X).Array()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if !array.Equal(want, f.Call(newWorld().X).Array()) {
					t.Error("another result")
				}
			}
		})
	}
	all.Wait()
}
