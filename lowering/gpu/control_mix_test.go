package gpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// mixed has loops and branches over what targets make of products, narrow weights and groups of elementwise calls:
// what they pack, share and leave for later crosses bodies.
const mixed = `gofx 1
graph mixed(%x: f32[4,8], %n: i64[], %p: bool[], %u: f32[1], %z: u8[1]) {
  %w = get_attr[w] : i8[8,8]
  %s = get_attr[s] : f32[8]
  %v = call_function[tanh](%x)
  %narrow = call_function[while](%n, %v, %w, %s) {carry=2} {
    region more(%k: i64[], %a: f32[4,8], %w: i8[8,8], %s: f32[8]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i64}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i64[], %a: f32[4,8], %w: i8[8,8], %s: f32[8]) {
      %one = call_function[full]() {size=[], value=1, dtype=i64}
      %next = call_function[sub](%k, %one)
      %l = get_attr[w] live : i8[8,8]
      %h = get_attr[h] : u8[8,4]
      %g = get_attr[g] : f32[8,1]
      %b = call_function[int8_linear](%a, %w, %s)
      %t = call_function[sigmoid](%b)
      %c = call_function[mul](%b, %t)
      %d = call_function[int4_linear](%c, %h, %g) {group=32}
      %e = call_function[int8_linear](%d, %l, %s)
      %f = call_function[tanh](%e)
      %r = call_function[sub](%f, %a)
      return (%next, %r)
    }
  }
  %narrow1 = call_function[getitem](%narrow) {index=1}
  %q0 = call_function[quantize](%x, %u, %z) {axis=-1}
  %bytes = call_function[scan](%q0, %x, %u, %z, %w, %s) {carry=1, seqs=1} {
    region round(%a: u8[4,8], %r: f32[8], %u: f32[1], %z: u8[1], %w: i8[8,8], %s: f32[8]) {
      %b = call_function[q_linear](%a, %u, %z, %w, %s, _, %u, %z)
      %row = call_function[unsqueeze](%r) {dim=0}
      %m = call_function[quantize](%row, %u, %z) {axis=-1}
      %c = call_function[q_concat](%u, %z, %b, %u, %z, %m, %u, %z) {dim=0}
      %d = call_function[narrow](%c) {dim=0, start=1, length=4}
      %e = call_function[q_add](%d, %u, %z, %a, %u, %z, %u, %z)
      return (%e, %c, %d)
    }
  }
  %bytes0 = call_function[getitem](%bytes) {index=0}
  %bytes1 = call_function[getitem](%bytes) {index=1}
  %bytes2 = call_function[getitem](%bytes) {index=2}
  %either = call_function[cond](%p, %q0, %u, %z, %w, %s) {
    region yes(%q: u8[4,8], %u: f32[1], %z: u8[1], %w: i8[8,8], %s: f32[8]) {
      %b = call_function[q_linear](%q, %u, %z, %w, %s, _, %u, %z)
      return %b
    }
    region no(%q: u8[4,8], %u: f32[1], %z: u8[1], %w: i8[8,8], %s: f32[8]) {
      %a = call_function[q_add](%q, %u, %z, %q, %u, %z, %u, %z)
      %b = call_function[q_linear](%a, %u, %z, %w, %s, _, %u, %z)
      %c = call_function[q_linear](%q, %u, %z, %w, %s, _, %u, %z)
      %d = call_function[q_mul](%c, %u, %z, %b, %u, %z, %u, %z)
      return %d
    }
  }
  %same = call_function[q_linear](%q0, %u, %z, %w, %s, _, _, _) {dtype=f32}
  %image = call_function[unsqueeze](%x) {dim=0}
  %conv = call_function[scan](%image, %x) {carry=1, seqs=1} {
    region round(%a: f32[1,4,8], %r: f32[8]) {
      %k = get_attr[k] : f32[4,4,3]
      %c = call_function[conv1d](%a, %k) {padding=[1]}
      %t = call_function[sigmoid](%c)
      %m = call_function[mul](%c, %t)
      %b = call_function[add](%m, %r)
      %d = call_function[mul](%b, %t)
      %e = call_function[tanh](%a)
      return (%d, %d, %e)
    }
  }
  %conv0 = call_function[getitem](%conv) {index=0}
  %conv1 = call_function[getitem](%conv) {index=1}
  %conv2 = call_function[getitem](%conv) {index=2}
  %ww = get_attr[ww] : f32[8,8]
  %x0 = call_function[narrow](%x) {dim=0, start=1, length=1}
  %m0 = call_function[add](%ww, %x0)
  %pack = call_function[cond](%p, %v, %m0) {
    region yes(%a: f32[4,8], %m: f32[8,8]) {
      %b = call_function[matmul](%a, %m)
      %c = call_function[sigmoid](%b)
      %d = call_function[mul](%b, %c)
      return (%d, %d)
    }
    region no(%a: f32[4,8], %m: f32[8,8]) {
      %l = get_attr[ww] live : f32[8,8]
      %b = call_function[matmul](%a, %l)
      %k = call_function[matmul](%b, %m)
      return (%k, %b)
    }
  }
  %pack0 = call_function[getitem](%pack) {index=0}
  %pack1 = call_function[getitem](%pack) {index=1}
  %after = call_function[matmul](%pack1, %m0)
  %swap = call_function[while](%m0, %ww, %n, %m0, %v) {carry=3} {
    region more(%a: f32[8,8], %b: f32[8,8], %k: i64[], %m: f32[8,8], %v: f32[4,8]) {
      %y = call_function[matmul](%v, %a)
      %t = call_function[matmul](%y, %m)
      %sum = call_function[sum](%t)
      %far = call_function[full]() {size=[], value=1e30, dtype=f32}
      %zero = call_function[full]() {size=[], value=0, dtype=i64}
      %some = call_function[gt](%k, %zero)
      %near = call_function[lt](%sum, %far)
      %go = call_function[logical_and](%some, %near)
      return %go
    }
    region body(%a: f32[8,8], %b: f32[8,8], %k: i64[], %m: f32[8,8], %v: f32[4,8]) {
      %one = call_function[full]() {size=[], value=1, dtype=i64}
      %next = call_function[sub](%k, %one)
      %y = call_function[matmul](%a, %b)
      %t = call_function[sigmoid](%y)
      %g = call_function[mul](%t, %m)
      %o = call_function[matmul](%t, %a)
      %h = call_function[sub](%g, %o)
      return (%b, %h, %next)
    }
  }
  %swap0 = call_function[getitem](%swap) {index=0}
  %swap1 = call_function[getitem](%swap) {index=1}
  %last = call_function[matmul](%v, %swap0)
  return %narrow1, %either, %same, %bytes0, %bytes1, %bytes2, %conv0, %conv1, %conv2, %pack0, %after, %swap0, %swap1, %last
}
param w : i8[8,8]
param s : f32[8]
param h : u8[8,4]
param g : f32[8,1]
param k : f32[4,4,3]
param ww : f32[8,8]
`

// TestMixedBodies compares them with the interpreter for no round and more, weights written in between, as on a GPU and as on
// a processor; what is laid out of a weight is laid out once, in whatever bodies it is read.
func TestMixedBodies(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 77))
	m := parsed(t, mixed)
	for path, a := range map[string]*array.Array{"w": bytesOf(r, array.I8, 8, 8), "s": scales(r, 8, 0.002), "h": bytesOf(r, array.U8, 8, 4),
		"g": numbers(r, array.F32, 8, 1), "k": numbers(r, array.F32, 4, 4, 3), "ww": numbers(r, array.F32, 8, 8)} {
		m.SetParam(graph.Param{Path: path, Value: a})
	}
	fake, l := onCUDA(t)
	for name, g := range map[string]gpu.Target{"groups": fake, "tiles": {Device: run.NewDevice(processor{l}), Cache: "-"}} {
		e := compile(t, g, m)
		// Words of w, and the sums of its rows; w, h, its scales and k for tiles.
		require.Equal(t, map[string]int{"groups": 2, "tiles": 4}[name], e.Stats().Setup, "%s", e.Stats())
		for n := range 4 {
			in := []*array.Array{numbers(r, array.F32, 4, 8), array.Scalar(int64(n)), array.Scalar(n%2 == 0), scales(r, 1, 0.05), bytesOf(r, array.U8, 1)}
			want := interpreted(t, m, in...)
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			for i := range want {
				if want[i].DType() == array.U8 {
					require.Empty(t, fxtest.SameArray(want[i], got[i]), "%s: result %d", name, i)
					continue
				}
				require.Empty(t, fxtest.CloseArrays(want[i:i+1], got[i:i+1]), "%s: result %d", name, i)
			}
			written(m.Param("w").Value, float64(3*n-5))
			written(m.Param("ww").Value, float64(n)/4-0.5)
		}
	}
}
