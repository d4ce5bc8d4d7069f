package cpu_test

import (
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/internal/packs"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

// TestPackedWeightsAreShared compiles one module twice: the second executable holds nothing of its own,
// and what it shares is let go with the last of the two.
func TestPackedWeightsAreShared(t *testing.T) {
	m := module(t, layer)
	w := m.Param("w").Value
	x := array.FromSlice([]float32{1, -2, 3, -4}, 1, 4)
	want := interpret(t, m, x)
	one := compile(t, m, lowering.Options{})
	bytes := one.Footprint().Packed
	require.GreaterOrEqual(t, bytes, int64(8*4*4))
	two := compile(t, m, lowering.Options{Threads: 1})
	require.Equal(t, bytes, two.Footprint().Packed)
	require.Equal(t, bytes, one.Footprint(two).Packed)
	require.Equal(t, 1, packs.Forms(w))

	require.NoError(t, one.Close())
	require.NoError(t, one.Close(), "again")
	require.Zero(t, one.Footprint().Packed)
	require.Equal(t, 1, packs.Forms(w))
	got, err := two.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	near(t, "the other one", want, got)
	_, err = one.PeakBytes(map[string]int{"N": 3})
	require.NoError(t, err, "of a closed one")
	require.NoError(t, two.Close())
	require.Zero(t, packs.Forms(w))
}

// TestPackedWeightsThatWereWritten writes a weight between compilations, with a word and without, and
// while two executables share it.
func TestPackedWeightsThatWereWritten(t *testing.T) {
	m := module(t, layer)
	w := m.Param("w").Value
	x := array.FromSlice([]float32{1, -2, 3, -4}, 1, 4)
	run := func(e *cpu.Executable) {
		t.Helper()
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		near(t, "weights of now", interpret(t, m, x), got)
	}
	one := compile(t, m, lowering.Options{})
	run(one)
	array.Data[float32](w)[3] = 7 // without a word
	two := compile(t, m, lowering.Options{})
	run(two)
	require.Equal(t, one.Footprint().Packed+two.Footprint().Packed, one.Footprint(two).Packed, "they differ")

	array.Data[float32](w)[5] = -7
	w.Storage().Bump()
	run(one)
	run(two)
	require.Equal(t, one.Footprint().Packed, one.Footprint(two).Packed, "they are the same again")
	require.Equal(t, 1, packs.Forms(w))
	one.Close()
	run(two)
	two.Close()
	require.Zero(t, packs.Forms(w))
}

// TestFormsThatDifferAreNotShared has one tensor read in two forms and two tensors in one.
func TestFormsThatDifferAreNotShared(t *testing.T) {
	m := module(t, layer)
	w := m.Param("w").Value
	plain, half := compile(t, m, lowering.Options{}), compile(t, m, lowering.Options{Weights: array.F16})
	require.Equal(t, plain.Footprint().Packed+half.Footprint().Packed, plain.Footprint(half).Packed)
	require.Equal(t, 2, packs.Forms(w))
	half.Close()
	require.Equal(t, 1, packs.Forms(w))

	other := module(t, layer)
	array.Copy(other.Param("w").Value, w)
	e := compile(t, other, lowering.Options{})
	require.Equal(t, 2*plain.Footprint().Packed, plain.Footprint(e).Packed, "another tensor with the same elements")
}

// TestBertAtFiveLengths holds the packed weights of one executable.
func TestBertAtFiveLengths(t *testing.T) {
	net := models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 40, TypeVocabSize: 2, HiddenSize: 32, NumLayers: 2, NumHeads: 2, IntermediateSize: 64, LayerNormEps: 1e-12})
	gm, err := fx.Trace(ctx, net, fx.Input("ids", "i64[1,S]"), fx.Input("mask", "i64[1,S]"))
	require.NoError(t, err)
	var g op.Gen
	for _, p := range gm.Params() {
		array.Copy(p.Value, g.Uniform(-0.5, 0.5, p.Value.Shape()...))
	}
	var list []*cpu.Executable
	for _, n := range []int{8, 16, 24, 32, 40} {
		e := compile(t, gm.Module, lowering.Options{Shapes: map[string]int{"S": n}})
		ids, mask := array.New(array.I64, 1, n), array.New(array.I64, 1, n)
		for i := range n {
			array.Data[int64](ids)[i], array.Data[int64](mask)[i] = int64(i%30), 1
		}
		got, err := e.Run(ctx, []*array.Array{ids, mask})
		require.NoError(t, err)
		near(t, strconv.Itoa(n), interpret(t, gm.Module, ids, mask), got)
		list = append(list, e)
	}
	one := list[0].Footprint().Packed
	require.Positive(t, one)
	require.Equal(t, one, list[0].Footprint(list[1:]...).Packed)
}

// TestExecutablesThatAreDropped leave nothing, although nobody has closed them.
func TestExecutablesThatAreDropped(t *testing.T) {
	m := module(t, layer)
	w := m.Param("w").Value
	compile(t, m, lowering.Options{})
	for i := 0; i < 10 && packs.Forms(w) > 0; i++ {
		runtime.GC()
	}
	require.Zero(t, packs.Forms(w))
	runtime.KeepAlive(m)
}

// TestCloseDuringRuns closes an executable from a function that it calls, before steps and bodies
// that read packed weights.
func TestCloseDuringRuns(t *testing.T) {
	var e *cpu.Executable
	closing := op.NewAdHoc("example.com/net", "close", op.Args("x"), false, false, func(in []*array.Array) ([]*array.Array, error) {
		if e != nil {
			return []*array.Array{array.Clone(in[0])}, e.Close()
		}
		return []*array.Array{array.Clone(in[0])}, nil
	})
	m := module(t, `
graph net(%x: f32[4,4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w) : f32[4,4]
  %z = call_function[scan](%y, %y) {carry=1, seqs=1} : (f32[4,4]) {
    region body(%c: f32[4,4], %row: f32[4]) {
      %u = get_attr[w] : f32[4,4]
      %m = call_function[linear](%c, %u) : f32[4,4]
      %n = call_function[add](%m, %row) : f32[4,4]
      return (%n)
    }
  }
  %r = call_function[getitem](%z) {index=0} : f32[4,4]
  return %r
}
param w : f32[4,4]
`)
	y := m.Graph.Find("y")
	x0 := m.Graph.Before(y).Function(closing, nil, y.Arg(0))
	x0.SetType(y.Type())
	y.SetArg(0, x0)
	var g op.Gen
	x := g.Normal(4, 4)
	want := interpret(t, m, x)
	w := m.Param("w").Value
	e = compile(t, m, lowering.Options{})
	require.Equal(t, 1, packs.Forms(w))
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	near(t, "a run that has begun", want, got)
	require.Zero(t, packs.Forms(w))
	_, err = e.Run(ctx, []*array.Array{x})
	require.ErrorIs(t, err, lowering.Closed)
}

// TestPackedWeightsOfManyGoroutines compiles, runs, closes and writes at once.
func TestPackedWeightsOfManyGoroutines(t *testing.T) {
	m := module(t, layer)
	w := m.Param("w").Value
	x := array.FromSlice([]float32{1, -2, 3, -4}, 1, 4)
	first := compile(t, m, lowering.Options{})
	want, err := first.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	first.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				e, err := cpu.Compile(m, lowering.Options{})
				if !assert.NoError(t, err) {
					return
				}
				for range 3 {
					got, err := e.Run(ctx, []*array.Array{x})
					if assert.NoError(t, err) {
						assert.Empty(t, fxtest.SameArray(want[0], got[0]))
					}
					w.Storage().Bump() // packed again, of the same elements
				}
				e.Close()
			}
		})
	}
	all.Wait()
	require.Zero(t, packs.Forms(w))
}

// TestTrim drops the memory of idle instances, those of bodies and of plans for sizes among them.
func TestTrim(t *testing.T) {
	x := array.FromSlice([]float32{1, -2, 3, -4}, 1, 4)
	m := module(t, `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[softmax](%x) {dim=1} : f32[N,4]
  %z = call_function[scan](%a, %a) {carry=1, seqs=1} : (f32[N,4]) {
    region body(%c: f32[N,4], %row: f32[4]) {
      %s = call_function[cumsum](%c) {dim=0} : f32[N,4]
      %n = call_function[add](%s, %row) : f32[N,4]
      return (%n)
    }
  }
  %r = call_function[getitem](%z) {index=0} : f32[N,4]
  %t = call_function[softmax](%x) {dim=0} : f32[N,4]
  %c = call_function[cat](%r, %t) {dim=0} : f32[2*N,4]
  %y = call_function[softmax](%c) {dim=1} : f32[2*N,4]
  return %y
}
`)
	e := compile(t, m, lowering.Options{})
	require.Zero(t, e.Footprint())
	first, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	idle := e.Footprint().Idle
	require.Positive(t, idle)
	for range 3 {
		_, err = e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, e.Footprint().Idle, idle)
	e.Trim()
	require.Zero(t, e.Footprint())
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	require.Empty(t, fxtest.SameArray(first[0], got[0]))
}
