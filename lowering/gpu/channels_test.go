package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// chains are networks whose values lie with channels last on the way, and what asks for them in order.
var chains = map[string]string{
	"pools and a sum": `(%x: D[2,16,9,8], %w: D[24,16,3,3], %b: D[24], %v: D[24,24,1,1]) {
  %c = call_function[conv2d](%x, %w, %b) {padding=[1,1]}
  %r = call_function[relu](%c)
  %p = call_function[max_pool2d](%r) {kernel_size=[3,3], stride=[2,2], padding=[1,1]}
  %d = call_function[conv2d](%p, %v, %b)
  %s = call_function[add](%d, %p)
  %e = call_function[conv2d](%s, %v)
  %q = call_function[avg_pool2d](%e) {kernel_size=[2,2], stride=[2,2]}
  return %q
}`,
	"a value read in both ways": `(%x: D[1,16,6,8], %w: D[16,16,3,3], %v: D[16,16,1,1], %m: D[16,6,8], %f: D[16,1,8]) {
  %c = call_function[conv2d](%x, %w) {padding=[1,1]}
  %d = call_function[conv2d](%c, %v)
  %e = call_function[reshape](%c) {shape=[1,16,48]}
  %g = call_function[reshape](%e) {shape=[1,16,6,8]}
  %s = call_function[add](%g, %d)
  %t = call_function[mul](%s, %m)
  %u = call_function[sub](%t, %f)
  %z = call_function[cat](%u, %c) {dim=1}
  return (%z, %c, %s)
}`,
	"groups, strides and odd channels": `(%x: D[2,32,7,7], %w: D[40,16,2,2], %v: D[34,20,1,1], %u: D[16,34,1,1]) {
  %c = call_function[conv2d](%x, %w) {padding=[1,1], stride=[2,2], groups=2}
  %d = call_function[conv2d](%c, %v) {groups=2}
  %e = call_function[conv2d](%d, %u)
  %t = call_function[transpose](%e) {dim0=1, dim1=3}
  return (%t, %e)
}`,
	"one image": `(%x: D[16,9,7], %w: D[24,16,3,3], %v: D[16,24,3,3], %b: D[16]) {
  %c = call_function[conv2d](%x, %w) {padding=[1,1]}
  %r = call_function[neg](%c)
  %d = call_function[conv2d](%r, %v, %b) {dilation=[2,2], padding=[2,2]}
  return %d
}`,
	"one and three dimensions": `(%x: D[2,16,40], %w: D[16,16,3], %y: D[1,16,3,4,5], %v: D[16,16,1,3,1], %u: D[16,16,1,1,1]) {
  %c = call_function[conv1d](%x, %w) {padding=[1]}
  %a = call_function[abs](%c)
  %d = call_function[conv1d](%a, %w)
  %e = call_function[conv3d](%y, %v) {padding=[0,1,0]}
  %f = call_function[conv3d](%e, %u)
  %s = call_function[sum](%f) {dim=[1]}
  return (%d, %f, %s)
}`,
}

// whole fills an array with integers whose sums of products are exact in all types.
func whole(r *rand.Rand, d array.DType, dims []int) *array.Array {
	a := array.New(d, dims...)
	for i := range a.Len() {
		few := r.IntN(9) - 4 // mostly zeros: sums stay small
		array.SetFloat64At(a, i, float64(few-max(min(few, 2), -2)))
	}
	return a
}

// TestChannelsLast: networks that keep channels last give bit by bit what the interpreter gives, in groups of warps
// large and small, where all sums are exact; on every change two of them in one way, for each program takes the tests'
// driver some seconds.
func TestChannelsLast(t *testing.T) {
	_, l := onCUDA(t)
	for name, text := range chains {
		ways := map[string][]int{"f16": {1, 1 << 20}, "f32": {1}}
		if !fxtest.IsNightly() {
			if name != "pools and a sum" && name != "a value read in both ways" {
				continue
			}
			ways = map[string][]int{"f16": {1}}
		}
		for dtype, sizes := range ways {
			m, err := graph.Parse([]byte("gofx 1\ngraph chain"+strings.ReplaceAll(text, "D[", dtype+"[")+"\n"), "chain.fx")
			require.NoError(t, err, name)
			r := rand.New(rand.NewPCG(7, 11))
			var in []*array.Array
			for _, x := range m.Graph.Inputs() {
				d, dims, _ := x.Type().Concrete()
				in = append(in, whole(r, d, dims))
			}
			want := interpreted(t, m, in...)
			for _, units := range sizes {
				t.Run(fmt.Sprintf("%s, %s, %d processors", name, dtype, units), func(t *testing.T) {
					e := compile(t, gpu.Target{Device: run.NewDevice(sized{l, units}), Cache: "-", TF32: true}, m)
					require.Positive(t, e.Stats().Tensor)
					got, err := e.Run(ctx, in)
					require.NoError(t, err)
					for i := range want {
						require.Equal(t, want[i].Shape(), got[i].Shape())
						for j := range want[i].Len() {
							require.Equal(t, array.Float64At(want[i], j), array.Float64At(got[i], j), "result %d, element %d", i, j)
						}
					}
				})
			}
		}
	}
}
