package gpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// TestQuantisedEdges compares calls on views, on values that several read, of nothing, and with weights that are values of the run, with the interpreter, bit by bit where they give bytes.
func TestQuantisedEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 75))
	m := parsed(t, `gofx 1
graph g(%x: f32[6,5], %e: f32[0,5], %w: i8[7,5], %h: u8[7,3], %s: f32[7], %g: f32[7,1], %q: u8[6,5], %i: u8[1,4,6,5], %u: f32[1], %z: u8[1], %n: f32[3,2], %k: i8[7,6]) {
  %t = call_function[t](%x)
  %tq = call_function[t](%q)
  %a = call_function[int8_linear](%x, %w, %s)
  %ar = call_function[relu](%a)
  %at = call_function[t](%ar)
  %b = call_function[int4_linear](%x, %h, %g) {group=32}
  %bb = call_function[mul](%b, %a)
  %c = call_function[int8_linear](%e, %w, %s)
  %d = call_function[dynamic_quantize](%t)
  %d0 = call_function[getitem](%d) {index=0}
  %d1 = call_function[getitem](%d) {index=1}
  %d2 = call_function[getitem](%d) {index=2}
  %f = call_function[dynamic_quantize](%n)
  %f0 = call_function[getitem](%f) {index=0}
  %f1 = call_function[getitem](%f) {index=1}
  %f2 = call_function[getitem](%f) {index=2}
  %l = call_function[q_linear](%d0, %d1, %d2, %k, %s, _, %u, %z)
  %ll = call_function[q_linear](%d0, %d1, %d2, %k, %s, _, _, _) {dtype=f32}
  %lz = call_function[q_linear](%d0, %d1, %z, %k, %s, _, %u, %z)
  %p = call_function[q_add](%q, %u, %z, %q, %u, %z, %u, %z)
  %pm = call_function[q_mul](%p, %u, %z, %p, %u, _, _, %z)
  %j = call_function[q_concat](%u, %z, %tq, %u, %z, %d0, %d1, %d2) {dim=-1}
  %jt = call_function[q_concat](%d1, %d2, %tq, %u, %z, %tq, %d1, %d2) {dim=0}
  %it = call_function[transpose](%i) {dim0=1, dim1=3}
  %iv = call_function[q_avg_pool](%it, %u, %z) {kernel_size=[3,2], stride=[2,2], padding=[1,1], ceil_mode=true, count_exclude_pad=true}
  %im = call_function[q_max_pool](%it) {kernel_size=[3,2], stride=[2,2], padding=[1,1], ceil_mode=true}
  %y = call_function[quantize](%t, %u, %z) {axis=-1}
  %yd = call_function[dequantize](%y, %u, %z)
  %yy = call_function[sub](%yd, %t)
  return %at, %b, %bb, %c, %d0, %d1, %d2, %f0, %f1, %f2, %l, %ll, %lz, %p, %pm, %j, %jt, %iv, %im, %y, %yy
}
`)
	nothing := array.New(array.F32, 3, 2)
	for i := range nothing.Len() {
		array.SetFloat64At(nothing, i, []float64{math.NaN(), 3e38, -3e38}[i%3])
	}
	in := []*array.Array{wilds(r, array.F32, 6, 5), array.New(array.F32, 0, 5), bytesOf(r, array.I8, 7, 5), bytesOf(r, array.U8, 7, 3), scales(r, 7, 0.1), numbers(r, array.F32, 7, 1),
		bytesOf(r, array.U8, 6, 5), bytesOf(r, array.U8, 1, 4, 6, 5), scales(r, 1, 0.3), bytesOf(r, array.U8, 1), nothing, bytesOf(r, array.I8, 7, 6)}
	want := interpreted(t, m, in...)
	fake, _ := onCUDA(t)
	targets := map[string]gpu.Target{"cuda": fake, "alone": {Device: run.NewDevice(processor{run.Driver(fake.Device)}), Cache: "-"}}
	if fxtest.IsNightly() { // PoCL compiles for long
		targets["processor"] = target(t)
	}
	for name, g := range targets {
		e := compile(t, g, m)
		for range 2 {
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			for i := range want {
				if want[i].DType() == array.F32 && i < 4 {
					fxtest.Close(t, name, want[i:i+1], got[i:i+1])
				} else {
					require.Empty(t, fxtest.SameArray(want[i], got[i]), "%s: result %d", name, i)
				}
			}
		}
	}
}

// TestNarrowWeightsThatChange: what is laid out of a weight follows it, and live ones are read at each run.
func TestNarrowWeightsThatChange(t *testing.T) {
	for _, attr := range []string{"get_attr[w]", "get_attr[w] live"} {
		r := rand.New(rand.NewPCG(8, 75))
		m := parsed(t, `gofx 1
graph g(%x: f32[N,40], %s: f32[9]) {
  symbol N = dim(%x, 0)
  %w = `+attr+` : i8[9,40]
  %y = call_function[int8_linear](%x, %w, %s)
  return %y
}
param w : i8[9,40]
`)
		m.SetParam(graph.Param{Path: "w", Value: bytesOf(r, array.I8, 9, 40)})
		e := compile(t, target(t), m)
		for i, n := range []int{1, 8, 1} {
			written(m.Param("w").Value, float64(20*i-7))
			in := []*array.Array{numbers(r, array.F32, n, 40), scales(r, 9, 1)}
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, attr, interpreted(t, m, in...), got)
		}
	}
}
