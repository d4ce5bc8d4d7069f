package compile_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
)

type dims struct{ dim int }

type dimIn struct {
	M *dims
	D int
	X *tensor.Tensor
}

var dimTable = state.Table{Func: pkg + ".setDim", Receiver: true, Fields: []state.Field{field("dims", "dim", "int", state.Store)}}

// Trap 1: a store of the value that is there already changes no memory.
func TestStoreOfTheSameValue(t *testing.T) {
	j := newJudge(t, dimTable, func(in *dimIn, out *oneOut) { in.M.dim = in.D; out.R = in.X.Neg() }, func() dimIn { return dimIn{&dims{1}, 1, vec(1)} })
	j.call()
	j.each(func(in *dimIn) { in.M.dim = 7 }).call()
	require.Equal(t, 1, j.b.M.dim)
	j.each(func(in *dimIn) { in.M.dim = 7 }).call()
	require.Equal(t, 1, j.f.Stats().Hits)
}

type pairIn struct{ A, B *tensor.Tensor }

var pairTable = state.Table{Func: pkg + ".addTo", InPlace: []state.Place{{Line: "f.go:1", What: "AddInPlace"}}}

func addTo(in *pairIn, out *oneOut) { in.A.AddInPlace(in.B); out.R = in.B.Neg() }

// Trap 2: one tensor twice, and views of one memory.
func TestAliases(t *testing.T) {
	j := newJudge(t, pairTable, addTo, func() pairIn { return pairIn{vec(1, 2), vec(3, 4)} })
	one := func(in *pairIn) { in.A = vec(1, 2); in.B = in.A }
	views := func(in *pairIn) { x := vec(1, 2, 3); in.A, in.B = x.Narrow(0, 0, 2), x.Narrow(0, 1, 2) }
	halves := func(in *pairIn) { x := vec(1, 2, 3, 4); in.A, in.B = x.Narrow(0, 0, 2), x.Narrow(0, 2, 2) }
	slices := func(in *pairIn) { d := []float32{1, 2, 3}; in.A, in.B = vec(d[:2]...), vec(d[1:]...) }
	for _, f := range []func(*pairIn){func(*pairIn) {}, one, one, views, halves, slices, func(in *pairIn) { *in = pairIn{vec(5, 6), vec(7, 8)} }, one} {
		j.each(f).call()
	}
	require.Equal(t, 2, j.f.Stats().Records)
	require.Equal(t, 3, j.f.Stats().Hits)
}

type holder struct {
	Act   activation
	Net   any
	Past  *tensor.Tensor
	Steps int
}

type holderIn struct {
	H *holder
	X *tensor.Tensor
}

// Trap 6: a type that the table lacks.
func TestUnknownType(t *testing.T) {
	table := state.Table{Func: "(*" + pkg + ".holder).act", Receiver: true, Fields: []state.Field{field("holder", "Act", pkg+".activation", state.Load)}, Dynamic: []string{"*" + pkg + ".scaled"}}
	run := func(in *holderIn, out *oneOut) { out.R = in.H.Act.apply(in.X) }
	j := newJudge(t, table, run, func() holderIn { return holderIn{&holder{Act: &plugin{4}}, vec(1, 2)} })
	for range 4 {
		j.call()
	}
	require.Zero(t, j.f.Stats().Records)
	require.Equal(t, 4, j.f.Stats().Plain)
	require.Contains(t, text(t, j.f), "H.Act holds a *"+pkg+".plugin, which the table lacks: run fxgen compile again where the type is known, at programs_test.go:1")
	f := compile.New(table, run, compile.Strict())
	err := caught(func() { f.Call(j.b) })
	require.ErrorIs(t, err, compile.NotRecorded)
}

func caught(f func()) (err error) {
	defer diag.Catch(&err)
	f()
	return nil
}

// Trap 9: a cache that grows, and a count.
func TestGrowingCache(t *testing.T) {
	table := state.Table{Func: "(*" + pkg + ".holder).step", Receiver: true, Fields: []state.Field{field("holder", "Past", tensorName, rw), field("holder", "Steps", "int", rw|state.Adds)}}
	j := newJudge(t, table, func(in *holderIn, out *oneOut) {
		if in.H.Past == nil {
			in.H.Past = in.X
		} else {
			in.H.Past = tensor.Cat([]*tensor.Tensor{in.H.Past, in.X}, 0)
		}
		in.H.Steps++
		out.R = in.H.Past.Sum()
	}, func() holderIn { return holderIn{&holder{}, vec(1, 2)} })
	for range 20 {
		j.call()
	}
	require.Equal(t, 20, j.b.H.Steps)
	for range 2 {
		j.each(func(in *holderIn) { in.H.Past = nil })
		for range 20 {
			j.call()
		}
	}
	require.Equal(t, 40, j.f.Stats().Hits)
	require.Equal(t, 60, j.b.H.Steps)
}

// Trap 10: weights that are written between hits.
func TestWrittenWeight(t *testing.T) {
	j := newJudge(t, networkTable, runNetwork, networkWorld)
	for i := range 12 {
		if i > 2 {
			j.each(func(in *forwardIn) { in.N.Layers[0].W.AddScalarInPlace(1) })
		}
		j.call()
	}
	require.Equal(t, 6, j.f.Stats().Hits, "after three writes the graph reads the weight: %s", j.f.Stats())
	j.each(func(in *forwardIn) { in.N.Layers[0].W = param(2, 3, 9) }).call()
	require.Equal(t, 6, j.f.Stats().Hits)
}

type xIn struct{ X *tensor.Tensor }

// What looks at data has no record, whatever the table says.
func TestObservation(t *testing.T) {
	for name, run := range map[string]func(*xIn, *oneOut){
		"item": func(in *xIn, out *oneOut) {
			if in.X.Sum().Item() > 3 {
				out.R = in.X.Neg()
			} else {
				out.R = in.X.MulScalar(2)
			}
		},
		"item of an input": func(in *xIn, out *oneOut) { out.R = in.X.AddScalar(in.X.Narrow(0, 0, 1).Item()) },
		"data": func(in *xIn, out *oneOut) {
			in.X.AddScalarInPlace(1)
			y := in.X.Neg()
			tensor.Data[float32](in.X)[0] = 9
			out.R = y.Add(in.X)
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, state.Table{Func: "f"}, run, func() xIn { return xIn{vec(1, 2)} })
			for range 3 {
				j.call()
				j.each(func(in *xIn) { in.X = vec(3, 4) })
			}
			require.Zero(t, j.f.Stats().Records)
			require.Contains(t, text(t, j.f), "looks at data, at ")
			require.Contains(t, text(t, j.f), "traps_test.go:")
		})
	}
}

var hidden = vec(1, 2)

func TestHiddenTensor(t *testing.T) {
	j := newJudge(t, state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.Add(hidden) }, func() xIn { return xIn{vec(1, 2)} })
	for range 3 {
		j.call()
	}
	require.Zero(t, j.f.Stats().Records)
	require.Contains(t, text(t, j.f), "the table does not lead to")
}

// A panic passes on; what was written before it is there.
func TestPanic(t *testing.T) {
	fail := errors.New("stop")
	table := state.Table{Func: "f", Fields: []state.Field{field("holder", "Past", tensorName, rw), field("holder", "Steps", "int", rw)}, InPlace: pairTable.InPlace}
	f := compile.New(table, func(in *holderIn, out *oneOut) {
		in.H.Past = in.X.MulScalar(2)
		in.X.AddScalarInPlace(1)
		in.H.Steps++
		panic(fail)
	})
	in := holderIn{&holder{}, vec(1, 2)}
	for i := range 3 {
		require.PanicsWithValue(t, fail, func() { f.Call(in) })
		require.Equal(t, i+1, in.H.Steps)
		require.Equal(t, []float32{float32(i + 2), float32(i + 3)}, tensor.Data[float32](in.X))
		require.Equal(t, []float32{float32(2*i + 2), float32(2*i + 4)}, tensor.Data[float32](in.H.Past))
	}
	require.Zero(t, f.Stats().Records)
}

// A mistake in data is told as the function itself tells it, at its line, with what it did before.
func TestMistake(t *testing.T) {
	table := state.Table{Func: "f", Fields: []state.Field{field("holder", "Steps", "int", rw|state.Adds)}}
	f := compile.New(table, func(in *holderIn, out *oneOut) {
		in.H.Steps++
		out.R = vec(1, 2, 3).IndexSelect(in.X.Cast(array.I64), 0)
		in.H.Steps++
	})
	h := &holder{}
	good, bad := tensor.FromSlice([]float32{2, 0}), tensor.FromSlice([]float32{7, 0})
	first := caught(func() { f.Call(holderIn{h, bad}) })
	require.ErrorContains(t, first, "traps_test.go:")
	require.Equal(t, 1, h.Steps)
	for range 2 {
		require.Equal(t, []float32{3, 1}, tensor.Data[float32](f.Call(holderIn{h, good}).R))
	}
	require.Equal(t, 5, h.Steps)
	require.Equal(t, first.Error(), caught(func() { f.Call(holderIn{h, bad}) }).Error())
	require.Equal(t, 6, h.Steps)
	require.Equal(t, 1, f.Stats().Hits)
}

// The records of a receiver go with it.
func TestDroppedReceiver(t *testing.T) {
	f := compile.New(networkTable, runNetwork)
	for range 3 {
		in := networkWorld()
		for range 3 {
			f.Call(in)
		}
	}
	require.Eventually(t, func() bool { runtime.GC(); return !strings.Contains(text(t, f), "record ") }, 10*time.Second, time.Millisecond)
}

func TestGoroutines(t *testing.T) {
	f := compile.New(networkTable, func(in *forwardIn, out *oneOut) { out.R = in.N.Layers[0].W.Matmul(in.X) })
	in := networkWorld()
	in.X = tensor.Ones(3, 2)
	want := in.N.Layers[0].W.Matmul(in.X)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if !f.Call(in).R.Equal(want) {
					t.Error("another result")
				}
			}
		})
	}
	all.Wait()
	s := f.Stats()
	require.Equal(t, 400, s.Hits+s.Captures+s.Plain)
}

// A compiled function that another one calls is a part of it.
func TestNested(t *testing.T) {
	inner := compile.New(state.Table{Func: "inner"}, func(in *xIn, out *oneOut) { out.R = in.X.MulScalar(3) })
	j := newJudge(t, state.Table{Func: "outer"}, func(in *xIn, out *oneOut) { out.R = inner.Call(xIn{in.X.Neg()}).R.Add(in.X) }, func() xIn { return xIn{vec(1, 2)} })
	for range 3 {
		j.call()
	}
	require.Equal(t, 2, j.f.Stats().Hits)
	require.Equal(t, 1, inner.Stats().Inlined)
}

// Audit finds what a table lacks.
func TestAudit(t *testing.T) {
	scale := 1.0
	f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R, scale = in.X.MulScalar(scale), scale+1 }, compile.Audit(1))
	f.Call(xIn{vec(1)})
	require.ErrorIs(t, caught(func() { f.Call(xIn{vec(1)}) }), compile.Differs)
	ok := compile.New(state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.Neg() }, compile.Audit(1))
	for range 3 {
		ok.Call(xIn{vec(1)})
	}
	require.Zero(t, ok.Stats().Hits)
	require.Equal(t, 3, ok.Stats().Captures)
}

func TestCapacity(t *testing.T) {
	var misses []compile.Miss
	f := compile.New(dimTable, func(in *dimIn, out *oneOut) { in.M.dim = in.D; out.R = in.X.AddScalar(float64(in.D)) }, compile.Capacity(2),
		compile.OnMiss(func(m compile.Miss) { misses = append(misses, m) }))
	m, x := &dims{}, vec(1)
	for _, d := range []int{1, 2, 1, 3, 4, 5} {
		m.dim = 0
		require.Equal(t, []float32{float32(1 + d)}, tensor.Data[float32](f.Call(dimIn{m, d, x}).R))
	}
	s := f.Stats()
	require.Equal(t, 1, s.Hits)
	require.Equal(t, 4, s.Records)
	require.Equal(t, 2, s.Evicted)
	require.Equal(t, 1, s.Lazy)
	require.Equal(t, 1, s.Segments)
	require.Contains(t, text(t, f), "more records than Capacity were made")
	require.Equal(t, compile.Miss{Func: pkg + ".setDim", Path: "D"}, misses[1])
	f.Close()
	f.Call(dimIn{m, 5, x})
	require.Equal(t, 1, f.Stats().Plain)
}

func TestStaleTable(t *testing.T) {
	table := state.Table{Func: "f", Fields: []state.Field{field("dims", "gone", "int", state.Load)}}
	require.ErrorIs(t, caught(func() { compile.New(table, func(in *struct{ D dims }, _ *struct{}) {}) }), state.Stale)
	table.Fields[0] = field("dims", "dim", "string", state.Load)
	require.ErrorIs(t, caught(func() { compile.New(table, func(in *struct{ D dims }, _ *struct{}) {}) }), state.Stale)
}
