package gpu_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
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

// TestStepsThatASymbolCounts: recurrent networks are expanded for the steps that a run has.
func TestStepsThatASymbolCounts(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph net(%x: f32[T,2,3]) {
  symbol T = dim(%x, 0)
  %wi = get_attr[wi] : f32[16,3]
  %wh = get_attr[wh] : f32[16,4]
  %h = get_attr[h] : f32[1,2,4]
  %c = get_attr[c] : f32[1,2,4]
  %l = call_function[lstm](%x, %h, %c, %wi, %wh) {no_bias=true}
  %y = call_function[getitem](%l) {index=0}
  %s = call_function[cumsum](%y) {dim=0}
  return %s
}
param wi : f32[16,3]
param wh : f32[16,4]
param h : f32[1,2,4]
param c : f32[1,2,4]
`)
	require.NoError(t, lowering.Query(g, m.Graph).Err())
	e := compile(t, g, m)
	for _, n := range []int{1, 3, 5} {
		x := ramp(n, 2, 3)
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		fxtest.Close(t, "lstm", interpreted(t, m, x), got)
	}
	require.Equal(t, 3, e.Stats().Sizes.Misses)
}
