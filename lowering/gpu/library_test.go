package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// libraryProducts has a linear layer with an epilogue, a product of batches one of which is turned,
// one that is too small for a library, and one of halves.
const libraryProducts = `gofx 1
graph products(%x: f32[130,128], %y: f32[2,130,128], %h: f16[128,130]) {
  %w = get_attr[w] : f32[144,128]
  %b = get_attr[b] : f32[144]
  %l = call_function[linear](%x, %w, %b) : f32[130,144]
  %r = call_function[relu](%l) : f32[130,144]
  %t = call_function[transpose](%y) {dim0=1, dim1=2} : f32[2,128,130]
  %m = call_function[matmul](%y, %t) : f32[2,130,130]
  %s = call_function[slice](%x) {dim=0, start=0, stop=2, step=1} : f32[2,128]
  %q = call_function[linear](%s, %w) : f32[2,144]
  %c = call_function[cast](%x) {dtype=f16} : f16[130,128]
  %k = call_function[matmul](%c, %h) : f16[130,130]
  %n = call_function[neg](%k) : f16[130,130]
  %p = call_function[matmul](%y, %t) : f32[2,130,130]
  return (%r, %m, %q, %n, %p)
}
param w : f32[144,128]
param b : f32[144]
`

func TestProductsByALibrary(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	m := parsed(t, libraryProducts)
	in := []*array.Array{ramp(130, 128), ramp(2, 130, 128), array.Cast(ramp(128, 130), array.F16)}
	want := interpreted(t, m, in...)
	cache := t.TempDir()
	measure := func(library bool) (s gpu.Stats, measured int) {
		d := run.NewDevice(drv.Device())
		run.Prefer(d, library)
		before := drv.Products()
		e, err := gpu.Target{Device: d, Cache: cache}.Compile(m, lowering.Options{})
		require.NoError(t, err)
		measured = drv.Products() - before
		for range 2 {
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, "products", want, got)
		}
		s = e.(*gpu.Executable).Stats()
		require.NoError(t, e.Close())
		return s, measured
	}
	s, measured := measure(true)
	require.Equal(t, 4, s.Library, "%s", s)
	require.Equal(t, 3*20, measured, "each different product is measured once")
	again, measured := measure(false)
	require.Zero(t, measured, "what was chosen is known to the next process")
	require.Equal(t, 4, again.Library)

	d := run.NewDevice(drv.Device())
	run.Prefer(d, true)
	e, err := gpu.Target{Device: d, Cache: "-", NoLibraries: true}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	require.Zero(t, e.(*gpu.Executable).Stats().Library)
	require.NoError(t, e.Close())

	cache = t.TempDir()
	s, measured = measure(false)
	require.Zero(t, s.Library)
	require.Equal(t, 3*20, measured)
	drv.RefuseAll()
	cache = t.TempDir()
	s, measured = measure(true)
	require.Zero(t, s.Library, "what the library does not take kernels do")
	require.Zero(t, measured)
}

// convolutions has one with padding, strides and an epilogue, one of groups with dilation, and
// one of halves.
const convolutions = `gofx 1
graph convolutions(%x: f32[2,16,20,20], %h: f16[2,16,20,20]) {
  %w = get_attr[w] : f32[32,16,3,3]
  %g = get_attr[g] : f32[64,8,3,3]
  %b = get_attr[b] : f32[32]
  %c = call_function[conv2d](%x, %w, %b) {padding=[1, 1], stride=[1, 1]} : f32[2,32,20,20]
  %r = call_function[relu](%c) : f32[2,32,20,20]
  %d = call_function[conv2d](%x, %g) {groups=2, dilation=[2, 2], padding=[2, 2]} : f32[2,64,20,20]
  %v = call_function[cast](%w) {dtype=f16} : f16[32,16,3,3]
  %a = call_function[cast](%b) {dtype=f16} : f16[32]
  %k = call_function[conv2d](%h, %v, %a) {padding=[1, 1]} : f16[2,32,20,20]
  return (%r, %d, %k)
}
param w : f32[32,16,3,3]
param g : f32[64,8,3,3]
param b : f32[32]
`

func TestConvolutionsByALibrary(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	m := parsed(t, convolutions)
	in := []*array.Array{ramp(2, 16, 20, 20), array.Cast(ramp(2, 16, 20, 20), array.F16)}
	want := interpreted(t, m, in...)
	d := run.NewDevice(drv.Device())
	run.Prefer(d, true)
	e, err := gpu.Target{Device: d, Cache: "-"}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	for range 2 {
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Close(t, "convolutions", want, got)
	}
	require.Equal(t, 3, e.(*gpu.Executable).Stats().Library)
	require.Equal(t, 3*20+3, drv.Convolutions(), "measured, and recorded once")
	require.NoError(t, e.Close())
}

// TestLibrariesInBodies: products of a loop are those of a library, with what follows them, and
// belong to recordings.
func TestLibrariesInBodies(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	m := parsed(t, `gofx 1
graph products(%x: f32[130,130], %n: i64[]) {
  %l = call_function[while](%n, %x) {carry=2} {
    region more(%k: i64[], %a: f32[130,130]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i64}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i64[], %a: f32[130,130]) {
      %w = get_attr[w] : f32[130,130]
      %one = call_function[full]() {size=[], value=1, dtype=i64}
      %odd = call_function[eq](%k, %one)
      %next = call_function[sub](%k, %one)
      %c = call_function[cond](%odd, %a, %w) : f32[130,130] {
        region yes(%a: f32[130,130], %w: f32[130,130]) {
          %b = call_function[matmul](%w, %a)
          %r = call_function[tanh](%b)
          return %r
        }
        region no(%a: f32[130,130], %w: f32[130,130]) {
          %b = call_function[matmul](%a, %w)
          return %b
        }
      }
      return (%next, %c)
    }
  }
  %l1 = call_function[getitem](%l) {index=1}
  return %l1
}
param w : f32[130,130]
`)
	d := run.NewDevice(drv.Device())
	run.Prefer(d, true)
	e := compile(t, gpu.Target{Device: d, Cache: "-"}, m)
	require.Equal(t, 2, e.Stats().Library, "%s", e.Stats())
	in := []*array.Array{ramp(130, 130), array.Scalar(int64(2))}
	want := interpreted(t, m, in...)
	for _, calls := range []int{2, 1} { // the one with a launch after it is recorded by the first run
		before := drv.Products()
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Close(t, "products", want, got)
		require.Equal(t, calls, drv.Products()-before)
	}
}

// TestLibrariesGiveTheirOwnType: a cast after a product is computed, not taken for the rounding of its sums.
func TestLibrariesGiveTheirOwnType(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	m := parsed(t, `gofx 1
graph casts(%x: f32[130,128], %y: f32[128,130], %i: f32[1,16,33,33], %w: f32[16,16,3,3]) {
  %a = call_function[matmul](%x, %y)
  %ai = call_function[cast](%a) {dtype=i32}
  %b = call_function[matmul](%x, %y)
  %bh = call_function[cast](%b) {dtype=bf16}
  %bf = call_function[cast](%bh) {dtype=f32}
  %xh = call_function[cast](%x) {dtype=f16}
  %yh = call_function[cast](%y) {dtype=f16}
  %c = call_function[matmul](%xh, %yh)
  %cf = call_function[cast](%c) {dtype=f32}
  %d = call_function[matmul](%xh, %yh)
  %k = call_function[conv2d](%i, %w)
  %ki = call_function[cast](%k) {dtype=i32}
  return %ai, %bf, %cf, %d, %ki
}
`)
	in := []*array.Array{ramp(130, 128), ramp(128, 130), ramp(1, 16, 33, 33), ramp(16, 16, 3, 3)}
	d := run.NewDevice(drv.Device())
	run.Prefer(d, true)
	e := compile(t, gpu.Target{Device: d, Cache: "-"}, m)
	require.Equal(t, 5, e.Stats().Library, "%s", e.Stats())
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "casts", interpreted(t, m, in...), got)
}
