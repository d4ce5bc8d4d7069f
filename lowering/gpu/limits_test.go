package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
)

// TestWhatIsLaidOutIsCounted: an image that can be indexed may have a frame that cannot. Nothing is allocated before that is known.
func TestWhatIsLaidOutIsCounted(t *testing.T) {
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
