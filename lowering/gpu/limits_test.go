package gpu_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/op/std"
)

// TestLimits_framesOfImages: an image that can be indexed may have a frame that cannot. Nothing is allocated before that is known.
func TestLimits_framesOfImages(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph g(%x: f32[1,1,46340,46340]) {
  %w = get_attr[w] : f32[4,1,3,3]
  %y = call_function[conv2d](%x, %w) {stride=[4,4], padding=[9,9]}
  return %y
}
param w : f32[4,1,3,3]
`)
	_, err := g.Compile(m, lowering.Options{})
	require.ErrorContains(t, err, "%y")
	require.ErrorContains(t, err, "elements, expected no more than 2147482624")
	require.ErrorContains(t, err, string(lowering.Unsupported))
}

// TestProductsOfIndices: places in windows are products of two sizes, which 32 bits do not hold where the tensors are small.
func TestProductsOfIndices(t *testing.T) {
	x := ramp(1, 1, 70001)
	m := parsed(t, `gofx 1
graph g(%x: f32[1,1,70001]) {
  %a = call_function[adaptive_avg_pool1d](%x) {output_size=[40003]}
  %b = call_function[adaptive_max_pool1d](%x) {output_size=[65537]}
  %r = call_function[roll](%x) {shifts=[12345], dims=[2]}
  %l = call_function[roll](%x) {shifts=[-3], dims=[2]}
  %c = call_function[pad](%x) {pad=[5,7], mode="circular"}
  %f = call_function[pad](%x) {pad=[6,4], mode="reflect"}
  return %a, %b, %r, %l, %c, %f
}
`)
	in := []*array.Array{x}
	got, err := compile(t, target(t), m).Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "windows", interpreted(t, m, in...), got)
}

// TestFloatsAtTheEndsOfIntegers: conversions saturate, and what is no number is zero, for all types that 32 bits hold.
func TestFloatsAtTheEndsOfIntegers(t *testing.T) {
	var x []float32
	for _, end := range []float64{0, 127, 128, 255, 32767, 65535, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxFloat32, math.Inf(1)} {
		for _, d := range []float64{-1, -0.5, 0, 0.5, 1} {
			x = append(x, float32(end+d), float32(-end-d), math.Nextafter32(float32(end), 0))
		}
	}
	x = append(x, float32(math.NaN()), float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32)
	b := newTogether(t)
	in := b.operands([]*array.Array{array.FromSlice(x, len(x))})[0]
	types := []array.DType{array.I8, array.U8, array.I16, array.U16, array.I32, array.U32, array.I64}
	for i, d := range types {
		b.result(b.c.Function(std.Cast, std.CastAttrs{DType: d}, in), i)
	}
	m := b.module()
	want := interpreted(t, m, b.in...)
	fake, _ := onCUDA(t)
	for _, g := range []gpu.Target{target(t), fake} {
		got, err := compile(t, g, m).Run(ctx, b.in)
		require.NoError(t, err)
		for i, d := range types {
			require.Empty(t, fxtest.SameArray(want[i], got[i]), d)
		}
	}
}
