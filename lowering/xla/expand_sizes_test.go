package xla_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
)

// expanded are programs whose calls are expanded, with a size left open or over a mesh.
var expanded = []struct {
	name, text string
	bound      int // of N; 0: N is split in two
	refused    string
	in         func(g *op.Gen, n int) []*array.Array
}{
	{"quantised", `graph g(%x: f32[N,3,8], %w: i8[4,3,3], %v: i8[5,32], %s: f32[], %r: f32[5]) {
  symbol N = dim(%x, 0)
  %d = call_function[dynamic_quantize](%x) : (u8[N,3,8], f32[], u8[])
  %a = call_function[getitem](%d) {index=0} : u8[N,3,8]
  %b = call_function[getitem](%d) {index=1} : f32[]
  %c = call_function[getitem](%d) {index=2} : u8[]
  %y = call_function[q_conv1d](%a, %b, %c, %w, %s, _, %s, _) {padding=[1], dtype=u8, relu=true} : u8[N,4,8]
  %f = call_function[reshape](%y) {shape=[N,32]} : u8[N,32]
  %l = call_function[q_linear](%f, %s, _, %v, %r, _, _, _) {dtype=f32} : f32[N,5]
  return (%y, %l)
}
`, 5, "", func(g *op.Gen, n int) []*array.Array {
		return []*array.Array{g.Normal(n, 3, 8), array.Cast(g.Int(90, 4, 3, 3), array.I8), array.Cast(g.Int(90, 5, 32), array.I8), array.Scalar(float32(0.03)), g.Uniform(0.01, 0.1, 5)}
	}},
	{"pools and resizing beside the batch", `graph g(%x: f32[N,2,6,6]) {
  symbol N = dim(%x, 0)
  %a = call_function[adaptive_avg_pool2d](%x) {output_size=[3,2]} : f32[N,2,3,2]
  %r = call_function[interpolate](%a) {size=[6,4], mode="nearest"} : f32[N,2,6,4]
  %m = call_function[adaptive_max_pool2d](%x) {output_size=[1,1]} : f32[N,2,1,1]
  %y = call_function[mul](%r, %m) : f32[N,2,6,4]
  %z = call_function[repeat](%y) {repeats=[1,2,1,1]} : f32[N,4,6,4]
  return (%y, %z)
}
`, 5, "", func(g *op.Gen, n int) []*array.Array { return []*array.Array{g.Normal(n, 2, 6, 6)} }},
	{"open positions between open sizes", `graph g(%x: f32[N,5,N], %i: i64[N]) {
  symbol N = dim(%x, 0)
  %a = call_function[index_select](%x, %i) {dim=1} : f32[N,N,N]
  %s = call_function[sum](%a) {dim=[1]} : f32[N,N]
  %u = call_function[unsqueeze](%s) {dim=1} : f32[N,1,N]
  %y = call_function[mul](%x, %u) : f32[N,5,N]
  return (%a, %y)
}
`, 5, "", func(g *op.Gen, n int) []*array.Array { return []*array.Array{g.Normal(n, 5, n), g.Int(5, n)} }},
	{"a pool over an open axis", `graph g(%x: f32[2,3,N]) {
  symbol N = dim(%x, 2)
  %y = call_function[adaptive_avg_pool1d](%x) {output_size=[4]} : f32[2,3,4]
  return %y
}
`, 8, "node %y: adaptive_avg_pool1d: target xla cannot leave a size open: the program has other operations", nil},
	{"resizing of an open axis", `graph g(%x: f32[1,1,N]) {
  symbol N = dim(%x, 2)
  %y = call_function[interpolate](%x) {size=[4], mode="linear"} : f32[1,1,4]
  return %y
}
`, 8, "node %y: interpolate: target xla cannot leave a size open: the program has other operations", nil},
	{"steps of a loop", `graph g(%x: f32[N,2,3], %w: f32[16,3], %u: f32[16,4]) {
  symbol N = dim(%x, 0)
  %l = call_function[lstm](%x, _, _, %w, %u) {no_bias=true} : (f32[N,2,4], f32[1,2,4], f32[1,2,4])
  %y = call_function[getitem](%l) {index=0} : f32[N,2,4]
  return %y
}
`, 8, "node %l: lstm: target xla cannot leave a size open: regions", nil},
	{"norms and bags", `graph g(%x: f32[N,4,6], %i: i64[N,3], %t: f32[9,6]) {
  symbol N = dim(%x, 0)
  %l = call_function[layer_norm](%x) {normalized_shape=[6]} : f32[N,4,6]
  %g = call_function[group_norm](%l) {num_groups=2} : f32[N,4,6]
  %e = call_function[embedding](%i, %t) : f32[N,3,6]
  %b = call_function[sum](%e) {dim=[1]} : f32[N,6]
  %u = call_function[unsqueeze](%b) {dim=1} : f32[N,1,6]
  %y = call_function[add](%g, %u) : f32[N,4,6]
  %k = call_function[topk](%y) {k=2, dim=2} : (f32[N,4,2], i64[N,4,2])
  %p = call_function[getitem](%k) {index=0} : f32[N,4,2]
  return (%y, %p)
}
`, 6, "", func(g *op.Gen, n int) []*array.Array {
		return []*array.Array{g.Normal(n, 4, 6), g.Int(9, n, 3), g.Normal(9, 6)}
	}},
	{"norms and bags over a mesh", `graph g(%x: f32[8,4,6], %i: i64[8,3], %t: f32[9,6]) {
  %l = call_function[layer_norm](%x) {normalized_shape=[6]} : f32[8,4,6]
  %g = call_function[group_norm](%l) {num_groups=2} : f32[8,4,6]
  %b = call_function[embedding_bag](%i, %t) {mode="sum"} : f32[8,6]
  %u = call_function[unsqueeze](%b) {dim=1} : f32[8,1,6]
  %y = call_function[add](%g, %u) : f32[8,4,6]
  %k = call_function[topk](%y) {k=2, dim=2} : (f32[8,4,2], i64[8,4,2])
  %p = call_function[getitem](%k) {index=0} : f32[8,4,2]
  %q = call_function[getitem](%k) {index=1} : i64[8,4,2]
  return (%y, %p, %q, %l)
}
`, 0, "", func(g *op.Gen, n int) []*array.Array {
		return []*array.Array{g.Normal(8, 4, 6), g.Int(9, 8, 3), g.Normal(9, 6)}
	}},
	{"members of tuples", `graph g(%x: f32[8,6], %s: f32[], %w: f32[8,1]) {
  %k = call_function[dynamic_quantize](%x) : (u8[8,6], f32[], u8[])
  %c = call_function[chunk](%x) {chunks=2, dim=1} : (f32[8,3], f32[8,3])
  %q = call_function[quantize](%x, %s) {dtype=i8} : i8[8,6]
  %y = call_function[mul](%x, %w) : f32[8,6]
  %e = call_function[reshape](%x) {shape=[8,1,6]} : f32[8,1,6]
  %f = call_function[expand](%e) {shape=[8,2,6]} : f32[8,2,6]
  %k0 = call_function[getitem](%k) {index=0} : u8[8,6]
  %k1 = call_function[getitem](%k) {index=1} : f32[]
  %c1 = call_function[getitem](%c) {index=1} : f32[8,3]
  return (%k0, %k1, %c1, %q, %y, %f)
}
`, 0, "", func(g *op.Gen, n int) []*array.Array {
		return []*array.Array{g.Normal(8, 6), array.Scalar(float32(0.03)), g.Normal(8, 1)}
	}},
}

// TestExpandedCallsKeepTheirSizes: programs of calls that are expanded compute what the interpreter does,
// for each size up to a bound, and over a mesh.
func TestExpandedCallsKeepTheirSizes(t *testing.T) {
	for _, c := range expanded {
		t.Run(c.name, func(t *testing.T) {
			m, g := parsedModule(t, c.text), &op.Gen{}
			var p *xla.Program
			var err error
			if c.bound > 0 {
				p, err = xla.EmitBounded(m, lowering.Options{Donate: []int{0}}, map[string]int{"N": c.bound})
			} else {
				x := m.Graph.Inputs()[0]
				split := make(shard.Split, x.Type().Rank())
				split[0] = "half"
				p = sharded(t, m, shard.Layout{Mesh: shard.Mesh{{Name: "half", Size: 2}}, Inputs: map[string]shard.Split{x.Name(): split}})
			}
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			for n := 1; n <= max(c.bound, 1); n++ {
				in := c.in(g, n)
				want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
				require.NoError(t, err)
				fxtest.Close(t, "g", want, within(t, p, in, map[string]int{"N": n}))
			}
			verifies(t, []string{p.String()})
		})
	}
}
