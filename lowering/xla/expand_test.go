package xla_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// same emits a graph for sizes and compares what its program computes with the interpreter.
func same(t *testing.T, m *graph.Module, sizes map[string]int, in ...*array.Array) string {
	t.Helper()
	require.Empty(t, lowering.Query(target{}, m.Graph))
	p, err := xla.Emit(m, lowering.Options{Shapes: sizes})
	require.NoError(t, err)
	run := interp.Interpreter{State: interp.NewState(m)}
	want, err := run.RunArrays(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "g", want, evaluate(t, p, arguments(p, m, in)))
	verifies(t, []string{p.String()})
	return p.String()
}

const expandable = `graph g(%x: f32[N,6,8], %p: bool[], %q: f32[6,8]) {
  symbol N = dim(%x, 0)
  %s = call_function[scan](%q, %x) {carry=1, seqs=1} : (f32[6,8], f32[N,6,4]) {
    region body(%c: f32[6,8], %r: f32[6,8]) {
      %l = call_function[layer_norm](%r) {normalized_shape=[8]} : f32[6,8]
      %t = call_function[topk](%l) {k=4, dim=1} : (f32[6,4], i64[6,4])
      %v = call_function[getitem](%t) {index=0} : f32[6,4]
      %i = call_function[getitem](%t) {index=1} : i64[6,4]
      %st = call_function[std](%r) {dim=[1], keep_dim=true} : f32[6,1]
      %d = call_function[div](%c, %st) : f32[6,8]
      return (%d, %v)
    }
  }
  %a = call_function[getitem](%s) {index=0} : f32[6,8]
  %b = call_function[getitem](%s) {index=1} : f32[N,6,4]
  %c = call_function[cond](%p, %b) : f32[N,6,8] {
    region yes(%z: f32[N,6,4]) {
      %u = call_function[unsqueeze](%z) {dim=0} : f32[1,N,6,4]
      %w = call_function[interpolate](%u) {size=[6,8], mode="bilinear"} : f32[1,N,6,8]
      %y = call_function[squeeze](%w) {dim=[0]} : f32[N,6,8]
      return %y
    }
    region no(%z: f32[N,6,4]) {
      %y = call_function[repeat](%z) {repeats=[1,1,2]} : f32[N,6,8]
      return %y
    }
  }
  return (%a, %c)
}
`

// TestBodiesAreExpanded: what is in bodies of control flow is expanded for the sizes that they
// are called with.
func TestBodiesAreExpanded(t *testing.T) {
	g := &op.Gen{}
	m := parsedModule(t, expandable)
	for _, n := range []int{3, 1} {
		for _, p := range []bool{true, false} {
			same(t, m, map[string]int{"N": n}, g.Normal(n, 6, 8), array.Scalar(p), g.Normal(6, 8))
		}
	}
}

// TestErrorsNameTheCall: what stands for a call is not what the user wrote.
func TestErrorsNameTheCall(t *testing.T) {
	for text, want := range map[string]string{
		"graph g(%x: f32[4,8], %s: f32[]) {\n  %y = call_function[quantize](%x, %s) {dtype=u4} : u4[4,8]\n  return %y\n}\n":                                                          "node %y: quantize: target xla cannot run quantize: it is made of cast; its result is u4, which has no rules",
		"graph g(%x: f32[1,2,8,8], %r: f32[3,4], %i: i64[3]) {\n  %y = call_function[roi_align](%x, %r, %i) {output_size=[2,2], spatial_scale=1.0} : f32[3,2,2,2]\n  return %y\n}\n": "node %y: roi_align: target xla cannot run roi_align: it is not expanded: sampling_ratio is 0",
		"graph g(%x: f32[0,8], %i: i64[6]) {\n  %y = call_function[embedding_bag](%i, %x, %i) : f32[6,8]\n  return %y\n}\n":                                                          "node %y: embedding_bag: target xla cannot run embedding_bag: it is made of index_select; it reads from tensor<0x8xf32>, which has no elements",
	} {
		m := parsedModule(t, text)
		_, err := xla.Emit(m, lowering.Options{})
		require.ErrorIs(t, err, lowering.Unsupported)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, lowering.Query(target{}, m.Graph), want)
	}
}

// TestSymbolsAreJudgedWithSizes: calls whose expansion follows from a size are taken, because
// programs are made for sizes.
func TestSymbolsAreJudgedWithSizes(t *testing.T) {
	g := &op.Gen{}
	for text, in := range map[string]*array.Array{
		"graph g(%x: f32[N,8]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[cumsum](%x) {dim=0} : f32[N,8]\n  return %y\n}\n":                                                                           g.Normal(6, 8),
		"graph g(%x: f32[N]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[searchsorted](%x, %x) : i64[N]\n  return %y\n}\n":                                                                             g.Normal(6),
		"graph g(%x: f32[1,1,N,8]) {\n  symbol N = dim(%x, 2)\n  %y = call_function[resize](%x) {size=[4,4], mode=\"linear\", antialias=true} : f32[1,1,4,4]\n  return %y\n}\n":                             g.Normal(1, 1, 6, 8),
		"graph g(%x: f32[2,3,N]) {\n  symbol N = dim(%x, 2)\n  %y = call_function[adaptive_avg_pool1d](%x) {output_size=[4]} : f32[2,3,4]\n  return %y\n}\n":                                                g.Normal(2, 3, 6),
		"graph g(%x: f16[2,3,N]) {\n  symbol N = dim(%x, 2)\n  %y = call_function[std](%x) {dim=[2]} : f16[2,3]\n  return %y\n}\n":                                                                          array.Cast(g.Uniform(-200, 200, 2, 3, 6), array.F16),
		"graph g(%x: bf16[2,4,N]) {\n  symbol N = dim(%x, 2)\n  %y = call_function[group_norm](%x) {num_groups=2} : bf16[2,4,N]\n  %z = call_function[softmax](%y) {dim=1} : bf16[2,4,N]\n  return %z\n}\n": array.Cast(g.Normal(2, 4, 6), array.BF16),
	} {
		same(t, parsedModule(t, text), map[string]int{"N": 6}, in)
	}
}

// TestTuplesAreReturned: the members of a tuple that a graph returns are results one by one.
func TestTuplesAreReturned(t *testing.T) {
	m := parsedModule(t, "graph g(%x: f32[4,8]) {\n  %t = call_function[topk](%x) {k=2, dim=1} : (f32[4,2], i64[4,2])\n  return (%x, %t)\n}\n")
	p, err := xla.Emit(m, lowering.Options{})
	require.NoError(t, err)
	g := &op.Gen{}
	x := g.Normal(4, 8)
	want, err := std.Topk.Eval(&kernel.Workspace{}, std.TopkAttrs{K: 2, Dim: 1}, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Same(t, "topk", append([]*array.Array{x}, want...), evaluate(t, p, []*array.Array{x}))
}

// TestMembersKeepTheirLayout: a call that gives a tuple is expanded, the layouts of its members
// are those of the plan.
func TestMembersKeepTheirLayout(t *testing.T) {
	m := parsedModule(t, "graph g(%x: f32[4,8]) {\n  %t = call_function[chunk](%x) {chunks=2, dim=1} : (f32[4,4], f32[4,4])\n"+
		"  %a = call_function[getitem](%t) {index=0} : f32[4,4]\n  %b = call_function[getitem](%t) {index=1} : f32[4,4]\n  %y = call_function[mul](%a, %b) : f32[4,4]\n  return %y\n}\n")
	p := sharded(t, m, shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}}, Inputs: map[string]shard.Split{"x": {"a", ""}}})
	require.Equal(t, 3, strings.Count(p.String(), `"stablehlo.custom_call"`), "two members and the product:\n%s", p)
}

// TestLongSequences: the program of a recurrent network has a loop, however long its sequence.
func TestLongSequences(t *testing.T) {
	for _, o := range []*op.Op{std.Lstm, std.Gru, std.Rnn, std.QLstm, std.QGru} {
		s := o.Samples()[0]
		lines := func(steps int) int {
			in := slices.Clone(s.In)
			d := slices.Clone(in[0].Shape())
			d[0] = steps
			in[0] = array.New(array.F32, d...)
			p, err := xla.Emit(oneCall(o, s.Attrs, in), lowering.Options{})
			require.NoError(t, err)
			return strings.Count(p.String(), "\n")
		}
		require.Equal(t, lines(2), lines(1000), o.Name)
		require.Positive(t, lines(0))
	}
}

// TestRepeatedIndices: an index that is the same along some dimensions reads and writes slices.
func TestRepeatedIndices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(rt, "rank")
		x, idx, small := make([]int, n), make([]int, n), make([]int, n)
		for i := range n {
			x[i] = rapid.IntRange(1, 4).Draw(rt, "size")
			idx[i] = rapid.IntRange(1, x[i]).Draw(rt, "index")
			small[i] = []int{1, idx[i]}[rapid.IntRange(0, 1).Draw(rt, "varies")]
		}
		dim := rapid.IntRange(0, n-1).Draw(rt, "dim")
		how := rapid.SampledFrom([]string{"sum", "prod", "amax", "amin"}).Draw(rt, "how")
		text := fmt.Sprintf("graph g(%%x: f32%s, %%i: i64%s, %%s: f32%s) {\n  %%e = call_function[expand](%%i) {shape=%[4]s} : i64%[4]s\n"+
			"  %%a = call_function[gather](%%x, %%e) {dim=%[5]d} : f32%[4]s\n  %%b = call_function[scatter_reduce](%%x, %%e, %%s) {dim=%[5]d, reduce=%[6]q} : f32%[1]s\n  return (%%a, %%b)\n}\n",
			list(x), list(small), list(idx), list(idx), dim, how)
		m, err := graph.Parse([]byte("gofx 1\n"+text), "g.fx")
		require.NoError(rt, err, text)
		p, err := xla.Emit(m, lowering.Options{})
		require.NoError(rt, err, text)
		g := &op.Gen{}
		in := []*array.Array{g.Normal(x...), g.Int(x[dim], small...), g.Normal(idx...)}
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
		require.NoError(rt, err)
		require.Empty(rt, fxtest.CloseArrays(want, evaluate(t, p, in)), text)
	})
}

func list(d []int) string { return strings.ReplaceAll(fmt.Sprint(d), " ", ",") }

// TestSizesOfNothing: images without elements make results that have some, or are normalised in no group.
func TestSizesOfNothing(t *testing.T) {
	g := &op.Gen{}
	m := parsedModule(t, `graph g(%x: f32[2,4,N], %y: f32[4,N,5], %w: f32[4,3,3], %v: f32[4,3,3,2], %b: f32[6], %z: f32[2,N,5]) {
  symbol N = dim(%x, 2)
  %p = call_function[conv_transpose1d](%x, %w, %b) {stride=[2], groups=2} : f32[2,6,2*N+1]
  %q = call_function[conv_transpose2d](%y, %v) {stride=[2,1]} : f32[3,2*N+1,6]
  %r = call_function[instance_norm](%z) : f32[2,N,5]
  return (%p, %q, %r)
}
`)
	for _, n := range []int{0, 1, 2} {
		same(t, m, map[string]int{"N": n}, g.Normal(2, 4, n), g.Normal(4, n, 5), g.Normal(4, 3, 3), g.Normal(4, 3, 3, 2), g.Normal(6), g.Normal(2, n, 5))
	}
}

// TestPoolsOfLargeImages: no constant of a pool is as large as the plane, and where no window sees padding alone
// none is needed.
func TestPoolsOfLargeImages(t *testing.T) {
	for _, text := range []string{
		"%y = call_function[avg_pool1d](%x) {kernel_size=[3], stride=[2]} : f32[1,1,(N-3)//2+1]",
		"%p = call_function[max_pool1d_with_indices](%x) {kernel_size=[3], padding=[1], stride=[1]} : (f32[1,1,N], i64[1,1,N])\n  %y = call_function[getitem](%p) {index=1} : i64[1,1,N]",
	} {
		m := parsedModule(t, "graph g(%x: f32[1,1,N]) {\n  symbol N = dim(%x, 2)\n  "+text+"\n  return %y\n}\n")
		p, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": 1 << 20}})
		require.NoError(t, err)
		require.Less(t, len(p.String()), 10_000, text)
	}
	m := parsedModule(t, "graph g(%x: f32[1,1,256,128]) {\n  %y = call_function[avg_pool2d](%x) {kernel_size=[3], padding=[1], stride=[1], count_exclude_pad=true} : f32[1,1,256,128]\n  return %y\n}\n")
	p, err := xla.Emit(m, lowering.Options{})
	require.NoError(t, err)
	require.Less(t, len(p.String()), 10_000, "a vector for each dimension")
}
