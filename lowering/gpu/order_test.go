package gpu_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
)

// TestRunsAreMerged sorts lines that are longer than the runs that one step orders, with equal
// elements, both zeros, infinities and NaN, in views.
func TestRunsAreMerged(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph order(%x: f32[2,203,3], %i: i64[130]) {
  %t = call_function[transpose](%x) {dim0=1, dim1=2}
  %a = call_function[sort](%x) {dim=1}
  %b = call_function[sort](%t) {dim=-1, descending=true}
  %c = call_function[sort](%i) {dim=0}
  %k = call_function[topk](%t) {k=9, dim=2}
  %a0 = call_function[getitem](%a) {index=0}
  %a1 = call_function[getitem](%a) {index=1}
  %b0 = call_function[getitem](%b) {index=0}
  %b1 = call_function[getitem](%b) {index=1}
  %c1 = call_function[getitem](%c) {index=1}
  %k1 = call_function[getitem](%k) {index=1}
  return %a0, %a1, %b0, %b1, %c1, %k1
}
`)
	x, i := array.New(array.F32, 2, 203, 3), array.New(array.I64, 130)
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for k := range x.Len() {
		v := float64(k * 7919 % 61)
		if k%11 == 0 {
			v = special[k/11%len(special)]
		}
		array.SetFloat64At(x, k, v)
	}
	for k := range i.Len() {
		array.SetInt64At(i, k, int64(k*31%17)-8)
	}
	in := []*array.Array{x, i}
	want := interpreted(t, m, in...)
	got, err := compile(t, g, m).Run(ctx, in)
	require.NoError(t, err)
	for k := range want {
		require.Empty(t, fxtest.SameArray(want[k], got[k]), "result %d", k)
	}
}

// TestScatterRefusesIndices: an index that is out of range is an error, and the next run works.
func TestScatterRefusesIndices(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph put(%x: f32[3,2], %i: i64[2,2], %s: f32[2,2]) {
  %y = call_function[scatter_add](%x, %i, %s) {dim=0}
  return %y
}
`)
	e := compile(t, g, m)
	in := []*array.Array{ramp(3, 2), array.FromSlice([]int64{2, 1, 2, 3}, 2, 2), ramp(2, 2)}
	_, err := e.Run(ctx, in)
	require.ErrorIs(t, err, gpu.OutOfRange)
	in[1] = array.FromSlice([]int64{2, 1, 2, 0}, 2, 2)
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "put", interpreted(t, m, in...), got)
}

// TestPartsShareKernels: the steps of a recurrent network differ in where their parts begin,
// and their kernels are the same.
func TestPartsShareKernels(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph steps(%x: f32[12,2,4], %h: f32[1,2,4], %c: f32[1,2,4]) {
  %a = get_attr[a] : f32[16,4]
  %b = get_attr[b] : f32[16,4]
  %l = call_function[lstm](%x, %h, %c, %a, %b) {no_bias=true}
  %o = call_function[getitem](%l) {index=0}
  return %o
}
param a : f32[16,4]
param b : f32[16,4]
`)
	in := []*array.Array{ramp(12, 2, 4), ramp(1, 2, 4), ramp(1, 2, 4)}
	e := compile(t, g, m)
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "steps", interpreted(t, m, in...), got)
	s := e.Stats()
	require.Less(t, s.Kernels, 12, "as many as steps")
	require.Greater(t, s.Launches, 3*12)
	require.Equal(t, 1, s.Expanded)
	require.Equal(t, s.Kernels, s.Compiled+s.Cached)
}

// TestStepsHaveToBeCounted: a number of steps that is a symbol is refused, and taken once it
// is pinned; a symbol for the batch is in nobody's way.
func TestStepsHaveToBeCounted(t *testing.T) {
	const text = `gofx 1
graph steps(%x: f32[T,N,4], %h: f32[1,N,4], %a: f32[12,4], %b: f32[12,4]) {
  symbol T = dim(%x, 0)
  symbol N = dim(%x, 1)
  %l = call_function[gru](%x, %h, %a, %b) {no_bias=true}
  %o = call_function[getitem](%l) {index=0}
  return %o
}
`
	g := gpu.Target{Device: gpu.Using(&failing{})}
	m := parsed(t, text)
	require.ErrorContains(t, lowering.Query(g, m.Graph).Err(), "the number of steps is T")
	pinned, err := lowering.Prepare(m, lowering.Options{Shapes: map[string]int{"T": 3}})
	require.NoError(t, err)
	require.NoError(t, lowering.Query(g, pinned.Graph).Err())
}
