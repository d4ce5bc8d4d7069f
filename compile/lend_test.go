package compile_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

// Calls without a record run in a session.

var observes = []state.Place{{Line: "f.go:1", What: "a call of Item", Why: "it reads the data of a tensor"}}

func opaque(lazy bool) []state.Place {
	return []state.Place{{Line: "f.go:2", What: "a call of os.Getenv", Why: "what it reads and does is not known", Lazy: lazy}}
}

type cacheIn struct {
	M *cached
	X *tensor.Tensor
}

type cached struct {
	W, Past *tensor.Tensor
	List    []*tensor.Tensor
	Steps   int
}

func cacheWorld() cacheIn {
	return cacheIn{&cached{W: param(2, 2, 1), Past: vec(1, 2), List: []*tensor.Tensor{vec(5, 6)}}, vec(1, -2)}
}

func cacheTable(opaque, observes []state.Place) state.Table {
	typ := pkg + ".cached"
	return state.Table{Func: "(*" + typ + ").step", Receiver: true, Opaque: opaque, Observes: observes, InPlace: pairTable.InPlace,
		Fields: []state.Field{field("cached", "W", tensorName, rw), field("cached", "Past", tensorName, rw), field("cached", "Steps", "int", rw),
			field("cached", "List", "[]"+tensorName, rw|state.Len|state.Cap)},
		Elems: []state.Elem{{Type: "[]" + tensorName, Access: rw | state.Len | state.Cap}}}
}

// Programs with a break in the middle: results, memory and identities are those of plain code, and all is eager after each call.
func TestLazyCalls(t *testing.T) {
	for name, c := range map[string]struct {
		segments int
		run      func(in *cacheIn, out *oneOut)
	}{
		"item":    {2, func(in *cacheIn, out *oneOut) { out.R = in.X.AddScalar(in.X.Exp().Sum().Item()).Matmul(in.M.W) }},
		"nothing": {1, func(in *cacheIn, out *oneOut) { out.R = in.X.Matmul(in.M.W) }},
		"stores": {2, func(in *cacheIn, out *oneOut) {
			in.M.Past = in.X.Add(in.M.Past)
			in.M.Steps += int(in.M.Past.Sum().Item())
			in.M.List = append(in.M.List, in.M.Past.Neg(), in.X)
			out.R = in.M.Past
		}},
		"in place": {2, func(in *cacheIn, out *oneOut) {
			in.X.AddInPlace(in.M.Past)
			v := in.X.Narrow(0, 0, 1)
			in.M.W.MulScalarInPlace(0.5)
			v.MulScalarInPlace(v.Item())
			out.R = v
		}},
		"data": {2, func(in *cacheIn, out *oneOut) {
			in.X.AddScalarInPlace(1)
			tensor.Data[float32](in.X)[0] = 7
			out.R = in.X.Neg()
		}},
		"input": {0, func(in *cacheIn, out *oneOut) { out.R, in.M.Past = in.X, in.X }},
		"view":  {1, func(in *cacheIn, out *oneOut) { out.R = in.X.Reshape(1, 2) }},
		"eager": {1, func(in *cacheIn, out *oneOut) {
			mask := tensor.Ones(2)
			mask.Narrow(0, 0, 1).AddInPlace(in.X.Narrow(0, 1, 1))
			in.M.Past = mask
			out.R = mask.Mul(in.X)
		}},
		"unused": {1, func(in *cacheIn, out *oneOut) { in.X.Exp().Neg(); out.R = vec(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, cacheTable(opaque(true), observes), c.run, cacheWorld)
			for range 5 {
				j.call()
				for _, x := range append([]*tensor.Tensor{j.b.X, j.b.M.W, j.b.M.Past, j.kept[1][len(j.kept[1])-1].R}, j.b.M.List...) {
					require.Nil(t, x.Engine())
				}
				j.each(func(in *cacheIn) { in.X = in.X.AddScalar(0.5) })
			}
			s := j.f.Stats()
			require.Equal(t, []int{5, 5 * c.segments, 0, 0}, []int{s.Lazy, s.Segments, s.Plain, s.Records}, "%s", s)
		})
	}
}

// A function that is given tensors by code of which nothing is known runs as it is; so does one whose memory cannot be walked.
func TestCallsApart(t *testing.T) {
	j := newJudge(t, cacheTable(opaque(false), nil), func(in *cacheIn, out *oneOut) { out.R = in.X.Matmul(in.M.W) }, cacheWorld)
	j.call()
	require.Equal(t, []int{0, 1}, []int{j.f.Stats().Lazy, j.f.Stats().Plain})
	j = newJudge(t, cacheTable(nil, observes), func(in *cacheIn, out *oneOut) { out.R = in.X.Neg() }, func() cacheIn {
		in := cacheWorld()
		in.M.Past = in.X.Reshape(1, 2)
		return in
	})
	j.call()
	require.Equal(t, []int{0, 1}, []int{j.f.Stats().Lazy, j.f.Stats().Plain})
}

type tied struct{ A, B *tensor.Tensor }

type tiedIn struct{ M *tied }

// Weights that share memory, one of which is written, are written as plain code does it.
func TestTiedWeights(t *testing.T) {
	table := state.Table{Func: "tied", Receiver: true, Observes: observes, InPlace: pairTable.InPlace,
		Fields: []state.Field{field("tied", "A", tensorName, rw), field("tied", "B", tensorName, rw)}}
	for name, c := range map[string]struct {
		lazy int
		run  func(in *tiedIn, out *oneOut)
	}{
		"in place": {0, func(in *tiedIn, out *oneOut) {
			y := in.M.B.Neg()
			in.M.A.AddScalarInPlace(1)
			out.R = y.Add(in.M.B)
		}},
		"given away": {0, func(in *tiedIn, out *oneOut) {
			y := in.M.B.Neg()
			tensor.Data[float32](in.M.A)[0] = 9
			out.R = y.Add(in.M.B)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, table, c.run, func() tiedIn {
				w := param(2, 2, 1)
				return tiedIn{&tied{w, w.Reshape(4)}}
			})
			for range 3 {
				j.call()
			}
			require.Equal(t, c.lazy, j.f.Stats().Lazy)
		})
	}
}

// What a call has stored before it meets a mistake, and needs no value of it, is there after the panic.
func TestStoresBeforeMistakes(t *testing.T) {
	f := compile.New(cacheTable(opaque(true), observes), func(in *cacheIn, out *oneOut) {
		in.M.W = in.X.Neg()
		y := in.X.Gather(tensor.FromSlice([]int64{5}), 0)
		in.M.Past = y
		out.R = y.AddScalar(y.Sum().Item())
	})
	in := cacheWorld()
	require.ErrorContains(t, caught(func() { f.Call(in) }), "lend_test.go")
	require.Equal(t, []float32{-1, 2}, tensor.Data[float32](in.M.W))
	require.Nil(t, in.X.Engine())
	require.ErrorContains(t, caught(func() { in.M.Past.Item() }), "lend_test.go")
}

// A mistake in data is told at its line. A function without opaque code runs again, and is as plain code then; one that
// has it does nothing twice, and has gone on to the line that looks at data.
func TestMistakesOfLazyCalls(t *testing.T) {
	calls := 0
	run := func(in *cacheIn, out *oneOut) {
		calls++
		in.M.Steps++
		y := in.X.Gather(tensor.FromSlice([]int64{0, int64(in.M.Steps)}), 0)
		in.M.Steps += 10
		out.R = y.AddScalar(y.Sum().Item())
		in.M.Past = y
	}
	for _, c := range []struct {
		opaque               []state.Place
		calls, steps, failed int
	}{{nil, 2, 1, 1}, {opaque(true), 1, 11, 0}} {
		f := compile.New(cacheTable(c.opaque, observes), run)
		in := cacheWorld()
		plain := caught(func() { w := cacheWorld(); w.M.Steps = 5; run(&w, &oneOut{}) })
		in.M.Steps = 5
		past := in.M.Past
		calls = 0
		err := caught(func() { f.Call(in) })
		require.EqualError(t, err, plain.Error())
		require.Equal(t, c.calls, calls)
		require.Equal(t, 5+c.steps, in.M.Steps)
		require.Same(t, past, in.M.Past)
		require.Equal(t, c.failed, f.Stats().Failed)
		in.M.Steps = 0
		f.Call(in)
		require.Nil(t, in.M.Past.Engine())
	}
}

// A panic of the code passes on, with what it has stored.
func TestPanicInLazyCall(t *testing.T) {
	run := func(in *cacheIn, out *oneOut) {
		in.M.Past = in.X.Neg()
		in.X.AddScalarInPlace(2)
		if in.M.Past.Sum().Item() > 0 {
			panic("positive")
		}
	}
	j := newJudge(t, cacheTable(nil, observes), run, cacheWorld)
	j.try("panics")
	j.try("panics again")
	require.Nil(t, j.b.X.Engine())
	require.Nil(t, j.b.M.Past.Engine())
}

// Sessions end with the function: also where a call closes it.
func TestCloseInLazyCall(t *testing.T) {
	var f *compile.Func[cacheIn, oneOut]
	f = compile.New(cacheTable(nil, observes), func(in *cacheIn, out *oneOut) {
		f.Close()
		out.R = in.X.AddScalar(in.X.Sum().Item())
	})
	in := cacheWorld()
	require.Equal(t, []float32{0, -3}, tensor.Data[float32](f.Call(in).R))
	f.Call(in)
	require.Equal(t, []int{1, 1}, []int{f.Stats().Lazy, f.Stats().Plain})
}

// Calls on several goroutines that share a model are right, whether they run in a session or as they are.
func TestLazyCallsOnGoroutines(t *testing.T) {
	f := compile.New(cacheTable(nil, observes), func(in *cacheIn, out *oneOut) { out.R = in.X.AddScalar(in.X.Sum().Item()).Matmul(in.M.W) })
	in := cacheWorld()
	want := f.Call(in).R
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 30 {
				if !f.Call(in).R.Equal(want) {
					t.Error("another result")
				}
			}
		})
	}
	all.Wait()
	s := f.Stats()
	require.Equal(t, 241, s.Lazy+s.Plain)
}

// A compiled function that a lazy call calls is a part of it.
func TestNestedInLazyCall(t *testing.T) {
	inner := compile.New(state.Table{Func: "inner"}, func(in *xIn, out *oneOut) { out.R = in.X.MulScalar(3) })
	j := newJudge(t, cacheTable(nil, observes), func(in *cacheIn, out *oneOut) { out.R = inner.Call(xIn{in.X.AddScalar(in.X.Sum().Item())}).R }, cacheWorld)
	for range 3 {
		j.call()
	}
	require.Equal(t, 3, j.f.Stats().Lazy)
	require.Equal(t, 3, inner.Stats().Inlined)
}

// noisy is a function that logs, and logNoisy says what.
func noisy(in *xIn, out *oneOut) {
	slog.Info("noisy", "rank", in.X.Rank())
	out.R = in.X.Gather(tensor.FromSlice([]int64{1}), 0)
}

func logNoisy(in *xIn) (*slog.Logger, slog.Level, string, []any) {
	return slog.Default(), slog.LevelInfo, "noisy", []any{"rank", in.X.Rank()}
}

func noisyTable(line string) state.Table {
	return state.Table{Func: "noisy", Entry: noisy, Tells: []state.Tell{{Line: line, What: "a call of slog.Info", Do: logNoisy}}}
}

// What a call logs is logged once, where the call is a hit, is recorded, or fails; a logger that does not listen is not told.
func TestTells(t *testing.T) {
	var b bytes.Buffer
	old := slog.Default()
	defer slog.SetDefault(old)
	level := new(slog.LevelVar)
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{AddSource: true, Level: level})))
	noisy(&xIn{vec(1, 2)}, &oneOut{})
	_, line, _ := strings.Cut(b.String(), "lend_test.go:")
	line, _, _ = strings.Cut(line, " ")
	f := compile.New(noisyTable("lend_test.go:"+line), noisy)
	logged := func(x *tensor.Tensor) (err error) {
		b.Reset()
		return caught(func() { f.Call(xIn{x}) })
	}
	for range 3 {
		require.NoError(t, logged(vec(1, 2)))
		require.Equal(t, 1, strings.Count(b.String(), "/compile/lend_test.go:"+line+" msg=noisy rank=1\n"), b.String())
	}
	require.Equal(t, 2, f.Stats().Hits)
	require.Error(t, logged(vec(1)))
	require.Equal(t, 1, strings.Count(b.String(), "noisy"))
	level.Set(slog.LevelWarn)
	require.NoError(t, logged(vec(1, 2)))
	require.Empty(t, b.String())
	require.False(t, slog.Default().Enabled(context.Background(), slog.LevelInfo))
	require.ErrorIs(t, caught(func() {
		compile.New(state.Table{Func: "f", Tells: []state.Tell{{Line: "f.go:1", Do: func() { os.Exit(1) }}}}, noisy)
	}), state.Stale)
}
