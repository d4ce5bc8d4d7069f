package gpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// TestWindowsOfNothing: windows between whose elements an input of one element lies, whose place is after it, and convolutions of
// no channels, which are their bias.
func TestWindowsOfNothing(t *testing.T) {
	m := parsed(t, `gofx 1
graph g(%x: f32[1,2,1,7,3], %y: f32[1,2,1], %q: u8[2,0,3,3], %w: i8[5,0,2,2], %s: f32[1], %z: u8[1], %b: i32[5]) {
  %a = call_function[max_pool3d_with_indices](%x) {kernel_size=[2,3,3], stride=[3,3,3], padding=[1,1,0], dilation=[2,1,1]}
  %v = call_function[getitem](%a) {index=0}
  %i = call_function[getitem](%a) {index=1}
  %c = call_function[max_pool1d_with_indices](%y) {kernel_size=[2], padding=[1], dilation=[2]}
  %k = call_function[getitem](%c) {index=1}
  %d = call_function[q_conv2d](%q, %s, %z, %w, %s, _, %s, %z, %b) {padding=[1]}
  %e = call_function[q_conv2d](%q, %s, %z, %w, %s) {dtype=i32}
  return %v, %i, %k, %d, %e
}
`)
	r := rand.New(rand.NewPCG(9, 75))
	bias := array.FromSlice([]int32{0, 70, -3, 4000, -4000})
	in := []*array.Array{ramp(1, 2, 1, 7, 3), ramp(1, 2, 1), array.New(array.U8, 2, 0, 3, 3), array.New(array.I8, 5, 0, 2, 2), scales(r, 1, 0.5), bytesOf(r, array.U8, 1), bias}
	want := interpreted(t, m, in...)
	fake, _ := onCUDA(t)
	for name, g := range map[string]gpu.Target{"cuda": fake, "alone": {Device: run.NewDevice(processor{run.Driver(fake.Device)}), Cache: "-"}} {
		got, err := compile(t, g, m).Run(ctx, in)
		require.NoError(t, err)
		fxtest.Same(t, name, want, got)
	}
}
