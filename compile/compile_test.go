package compile_test

import (
	"io"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

func bodyOf(f any) state.Body {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return state.Body{Package: pkg, File: filepath.Base(file), Line: line}
}

// judge calls a function as it is and compiled, on two worlds that are alike, and compares them at every call.
type judge[I, O any] struct {
	t    *testing.T
	run  func(*I, *O)
	f    *compile.Func[I, O]
	a, b I
	kept [2][]O // results stay, as a caller may keep them
}

func newJudge[I, O any](t *testing.T, table state.Table, run func(*I, *O), world func() I, o ...compile.Option) *judge[I, O] {
	return &judge[I, O]{t: t, run: run, f: compile.New(table, run, o...), a: world(), b: world()}
}

// each does something to both worlds.
func (j *judge[I, O]) each(f func(*I)) *judge[I, O] {
	f(&j.a)
	f(&j.b)
	return j
}

// call compares one call of each.
func (j *judge[I, O]) call() {
	j.t.Helper()
	var plain O
	n, g := counter, gain
	j.run(&j.a, &plain)
	counter, n = n, counter
	compiled := j.f.Call(j.b)
	require.Equal(j.t, n, counter)
	require.Equal(j.t, g, gain)
	if len(j.kept[0]) > 3 {
		j.kept[0], j.kept[1] = j.kept[0][1:], j.kept[1][1:]
	}
	j.kept[0], j.kept[1] = append(j.kept[0], plain), append(j.kept[1], compiled)
	type all struct {
		In  *I
		Out []O
	}
	require.Empty(j.t, differ(&all{&j.a, j.kept[0]}, &all{&j.b, j.kept[1]}))
}

func networkWorld() forwardIn { return forwardIn{newNetwork(), vec(1, -2, 3, 4).Reshape(2, 2)} }

func TestHits(t *testing.T) {
	j := newJudge(t, networkTable, runNetwork, networkWorld)
	for range 10 {
		j.call()
	}
	s := j.f.Stats()
	require.Equal(t, 2, s.Records, "the first call finds no Last: %s", s)
	require.Equal(t, 8, s.Hits)
	require.Equal(t, 10, j.b.N.Seen)
}

func TestUnlistedFieldsAreFree(t *testing.T) {
	j := newJudge(t, networkTable, runNetwork, networkWorld)
	for i := range 5 {
		j.each(func(in *forwardIn) { in.N.Layers[0].Unread = i })
		j.call()
	}
	require.Equal(t, 3, j.f.Stats().Hits)
}

// Each word, changed alone, is a miss; changed back, it is a hit.
func TestEveryWord(t *testing.T) {
	for name, change := range map[string][2]func(*forwardIn){
		"depth":   {func(i *forwardIn) { i.N.Depth = 1 }, func(i *forwardIn) { i.N.Depth = 2 }},
		"norm":    {func(i *forwardIn) { i.N.Norm = false }, func(i *forwardIn) { i.N.Norm = true }},
		"bias":    {func(i *forwardIn) { i.N.Bias = 1 }, func(i *forwardIn) { i.N.Bias = 0.5 }},
		"kind":    {func(i *forwardIn) { i.N.Kind = "nex" }, func(i *forwardIn) { i.N.Kind = "neg" }},
		"private": {func(i *forwardIn) { i.N.private = 1 }, func(i *forwardIn) { i.N.private = 0 }},
		"scale":   {func(i *forwardIn) { i.N.Layers[1].Scale = 3 }, func(i *forwardIn) { i.N.Layers[1].Scale = 2 }},
		"name":    {func(i *forwardIn) { i.N.Layers[1].Name = "act" }, func(i *forwardIn) { i.N.Layers[1].Name = "id" }},
		"layers":  {func(i *forwardIn) { i.N.Layers = i.N.Layers[:1] }, func(i *forwardIn) { i.N.Layers = i.N.Layers[:2] }},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, networkTable, runNetwork, networkWorld)
			for range 3 {
				j.call()
			}
			require.Equal(t, 1, j.f.Stats().Hits)
			j.each(change[0]).call()
			require.Equal(t, 1, j.f.Stats().Hits)
			require.Equal(t, 3, j.f.Stats().Misses)
			j.each(change[1]).call()
			j.each(change[0]).call()
			require.LessOrEqual(t, j.f.Stats().Misses, 5)
		})
	}
}

func listWorld() listIn {
	c := &node{Value: vec(5, 6), Gain: 3}
	return listIn{&node{Value: vec(1, 2), Gain: 2, Next: c}, &node{Value: vec(3, 4), Gain: 1}}
}

func TestStructure(t *testing.T) {
	j := newJudge(t, listTable, runList, listWorld)
	reset := func(in *listIn) { *in = listWorld() }
	for range 5 {
		j.each(reset).call()
	}
	require.Equal(t, 3, j.f.Stats().Hits, "objects of arguments are known by structure, and the second call shows that those of results are new")
	for i := range 3 {
		j.each(reset).each(func(in *listIn) { in.B = in.A }).call()
		require.Equal(t, 3+i/2, j.f.Stats().Hits)
	}
	j.each(reset).each(func(in *listIn) { in.B = in.A.Next }).call()
	j.each(reset).each(func(in *listIn) { in.B = nil }).call()
	require.Equal(t, 4, j.f.Stats().Hits)
}

func sliceWorld() sliceIn {
	x := vec(1, 2)
	return sliceIn{B: &buffer{Ints: make([]int, 1, 4), Cfg: config{Rate: 2}, Pair: [2]*tensor.Tensor{vec(7, 8), vec(9, 10)}}, V: 3, Xs: []*tensor.Tensor{x, vec(3, 4), x}}
}

func TestSlices(t *testing.T) {
	j := newJudge(t, sliceTable, runSlices, sliceWorld)
	for range 8 {
		j.call()
	}
	for range 3 {
		j.each(func(in *sliceIn) { *in = sliceWorld() }).call()
	}
	require.GreaterOrEqual(t, j.f.Stats().Hits, 2)
	j.each(func(in *sliceIn) { *in = sliceWorld(); in.Xs[2] = vec(1, 2) }).call()
	j.each(func(in *sliceIn) { *in = sliceWorld(); in.B.Ints = in.B.Ints[:1:1] }).call()
	j.each(func(in *sliceIn) { *in = sliceWorld(); in.B.Ints[:4][1] = 77 }).call()
	j.each(func(in *sliceIn) { *in = sliceWorld(); in.Cfg.Dims[2] = 1 }).call()
}

func dynamicWorld() dynamicIn {
	return dynamicIn{&dynamic{Act: &scaled{2}, Opt: 1000, Fn: double, Gains: map[string]float64{"a": 2, "gone": 3}}, vec(1, 2)}
}

func TestDynamic(t *testing.T) {
	j := newJudge(t, dynamicTable, runDynamic, dynamicWorld)
	same := func(f func(in *dynamicIn)) func(*dynamicIn) {
		return func(in *dynamicIn) { *in = dynamicWorld(); f(in) }
	}
	hits := 0
	for _, f := range []func(*dynamicIn){
		func(*dynamicIn) {}, func(in *dynamicIn) { in.D.Opt = any(1001) }, func(in *dynamicIn) { in.D.Opt = int64(1000) }, func(in *dynamicIn) { in.D.Opt = nil },
		func(in *dynamicIn) { in.D.Act = shifted(2) }, func(in *dynamicIn) { in.D.Act = nil }, func(in *dynamicIn) { in.D.Act = &scaled{3} },
		func(in *dynamicIn) { in.D.Fn = triple }, func(in *dynamicIn) { in.D.Fn = nil }, func(in *dynamicIn) { in.D.Gains["a"] = 4 },
		func(in *dynamicIn) { in.D.Gains["b"] = 4 }, func(in *dynamicIn) { in.D.Gains = nil },
	} {
		j.each(same(f)).call()
		require.Equal(t, hits, j.f.Stats().Hits)
		j.each(same(f)).call()
		hits++
		require.Equal(t, hits, j.f.Stats().Hits, "%s", text(t, j.f))
	}
	for i := range 3 { // a new error
		j.each(same(func(in *dynamicIn) { in.D.Opt = 3000 })).call()
		require.Equal(t, hits+i/2, j.f.Stats().Hits)
	}
}

func writeWorld() writeIn {
	r := vec(1)
	r.MarkParam()
	return writeIn{&writer{r, 0.25}, vec(1, 2, 3, 4), vec(5, 6, 7, 8)}
}

func TestWrites(t *testing.T) {
	j := newJudge(t, writeTable, runWrites, writeWorld)
	for i := range 6 {
		counter = 40 // a word that is read and stored
		j.call()
		if i == 3 {
			j.each(func(in *writeIn) { in.W.Momentum = 0.5 })
		}
	}
	require.Equal(t, 4, j.f.Stats().Hits, "%s", text(t, j.f))
}

// Every world is changed at random between calls.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	t.Run("network", func(t *testing.T) {
		j := newJudge(t, networkTable, runNetwork, networkWorld, compile.Audit(5), compile.Capacity(256))
		for range 120 {
			n := r.IntN(20)
			k := r.IntN(2)
			j.each(func(in *forwardIn) {
				switch n {
				case 0:
					in.N.Depth = k
				case 1:
					in.N.Norm = k == 0
				case 2:
					in.N.Layers[0].Scale = float64(k)
				case 3:
					in.N.Kind = []string{"neg", "pos"}[k]
				case 4:
					in.N.Layers[0], in.N.Layers[1] = in.N.Layers[1], in.N.Layers[0]
				case 5:
					in.X = tensor.Ones(1+k, in.N.Layers[0].W.Size(0).Int())
				case 6:
					in.N.Layers[0].W.AddScalarInPlace(1)
				case 7:
					in.N.Layers[1] = in.N.Layers[0]
				case 8:
					in.N.Layers[k] = newNetwork().Layers[k]
				}
				in.X = tensor.Ones(1+k, in.N.Layers[0].W.Size(0).Int())
				if in.N.Layers[0].W.Size(1).Int() != in.N.Layers[1].W.Size(0).Int() {
					in.N.Layers = newNetwork().Layers
					in.X = tensor.Ones(1+k, 2)
				}
			})
			j.call()
		}
		require.Greater(t, j.f.Stats().Hits, 20, "%s", j.f.Stats())
	})
}

func text(t *testing.T, f interface{ Explain(io.Writer) error }) string {
	var b strings.Builder
	require.NoError(t, f.Explain(&b))
	return b.String()
}
