package gpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// edges are calls at the borders of what attention means.
func edges() []attentionCall {
	r := rand.New(rand.NewPCG(7, 59))
	f := func(dims ...int) *array.Array { return numbers(r, array.F32, dims...) }
	set := func(a *array.Array, v float64, at ...int) *array.Array {
		for _, i := range at {
			array.SetFloat64At(a, i, v)
		}
		return a
	}
	keep := func(dims []int, at ...int) *array.Array {
		m := array.New(array.Bool, dims...)
		for _, i := range at {
			array.SetInt64At(m, i, 1)
		}
		return m
	}
	inf, nan := math.Inf(1), math.NaN()
	causal := std.AttentionAttrs{IsCausal: true}
	list := []attentionCall{
		{name: "one query", in: []*array.Array{f(2, 4, 1, 8), f(2, 4, 200, 8), f(2, 4, 200, 8)}},
		{name: "matrices", in: []*array.Array{f(3, 5), f(4, 5), f(4, 7)}},
		{name: "no keys", in: []*array.Array{f(2, 3, 5), f(2, 0, 5), f(2, 0, 4)}},
		{name: "no queries", in: []*array.Array{f(2, 0, 5), f(2, 3, 5), f(2, 3, 4)}},
		{name: "no features", in: []*array.Array{f(2, 3, 0), f(2, 4, 0), f(2, 4, 4)}},
		{name: "no values", in: []*array.Array{f(2, 3, 4), f(2, 4, 4), f(2, 4, 0)}},
		{name: "more features than kernels take", in: []*array.Array{f(2, 3, 300), f(2, 4, 300), f(2, 4, 300)}},
		{name: "as many features as kernels take", in: []*array.Array{f(17, 256), f(19, 256), f(19, 256)}},
		{name: "more queries than keys", attrs: causal, in: []*array.Array{f(2, 40, 8), f(2, 5, 8), f(2, 5, 8)}},
		{name: "more keys than queries", attrs: causal, in: []*array.Array{f(2, 5, 8), f(2, 300, 8), f(2, 300, 8)}},
		{name: "a mask of one number", in: []*array.Array{f(2, 3, 8), f(2, 4, 8), f(2, 4, 8), f()}},
		{name: "a mask of one key", in: []*array.Array{f(2, 3, 8), f(2, 4, 8), f(2, 4, 8), keep([]int{3, 1}, 0, 2)}},
		{name: "a mask with more dimensions", in: []*array.Array{f(3, 8), f(4, 8), f(4, 8), f(2, 2, 3, 4)}},
		{name: "values alone have a batch", in: []*array.Array{f(3, 8), f(4, 8), f(5, 4, 8)}},
		{name: "keys broadcast", in: []*array.Array{f(2, 3, 3, 8), f(3, 4, 8), f(2, 1, 4, 8)}},
		{name: "groups of keys and of values", attrs: std.AttentionAttrs{EnableGqa: true}, in: []*array.Array{f(6, 3, 8), f(3, 4, 8), f(2, 4, 8)}},
		{name: "one head for all", attrs: std.AttentionAttrs{EnableGqa: true}, in: []*array.Array{f(2, 6, 3, 8), f(2, 1, 4, 8), f(1, 2, 4, 8)}},
		{name: "a negative scale", attrs: std.AttentionAttrs{Scale: op.Float(-3)}, in: []*array.Array{f(2, 3, 8), f(2, 4, 8), f(2, 4, 8)}},
		{name: "no scale", attrs: std.AttentionAttrs{Scale: op.Float(0)}, in: []*array.Array{f(2, 3, 8), f(2, 4, 8), f(2, 4, 8)}},
		{name: "scores that are far apart", attrs: std.AttentionAttrs{Scale: op.Float(1000)}, in: []*array.Array{f(2, 30, 8), f(2, 400, 8), f(2, 400, 8)}},
		{name: "an infinite key", in: []*array.Array{f(4, 3), set(f(5, 3), inf, 4), f(5, 3)}},
		{name: "a key of NaN", in: []*array.Array{f(4, 3), set(f(200, 3), nan, 451), f(200, 3)}},
		{name: "an infinite value", in: []*array.Array{f(4, 3), f(5, 3), set(f(5, 3), inf, 4)}},
		{name: "nothing is kept beside NaN", in: []*array.Array{f(4, 3), set(f(5, 3), nan, 1), set(f(5, 3), inf, 4), keep([]int{4, 5}, 0, 6, 17)}},
		{name: "kept scores are -Inf", in: []*array.Array{set(f(2, 1), 1, 0, 1), set(f(3, 1), -inf, 0, 1, 2), f(3, 2), keep([]int{2, 3}, 0, 1)}},
		{name: "-Inf is added behind the first tile", in: []*array.Array{f(3, 4), f(300, 4), f(300, 4), set(f(300), -inf, 0, 1, 2, 3, 4, 5, 6, 7, 130, 299)}},
		{name: "-Inf is added to whole tiles", in: []*array.Array{f(3, 4), f(300, 4), f(300, 4), set(f(300), -inf, upTo(290)...)}},
		{name: "-Inf is added everywhere", in: []*array.Array{f(3, 4), f(6, 4), f(6, 4), set(f(6), -inf, upTo(6)...)}},
	}
	return list
}

func upTo(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// TestEdgesOfAttention runs them in both forms.
func TestEdgesOfAttention(t *testing.T) {
	g, _ := onCUDA(t)
	t.Run("alone", func(t *testing.T) {
		attends(t, gpu.Target{Device: run.NewDevice(processor{run.Driver(g.Device)}), Cache: "-"}, edges())
	})
	t.Run("groups", func(t *testing.T) { attends(t, g, edges()) })
	t.Run("pocl", func(t *testing.T) {
		fxtest.Nightly(t)
		attends(t, target(t), edges())
	})
}

// TestAttentionThatIsExpanded: what the kernel does not take is products and a softmax.
func TestAttentionThatIsExpanded(t *testing.T) {
	g := target(t)
	steps := func(d array.DType, features int) []string {
		b := newTogether(t)
		in := b.operands([]*array.Array{array.New(d, 3, features), array.New(d, 4, features), array.New(d, 4, 5)})
		b.result(b.c.Function(std.ScaledDotProductAttention, std.AttentionAttrs{}, in...), 0)
		e := compile(t, g, b.module())
		_, err := e.Run(ctx, b.in)
		require.NoError(t, err)
		return gpu.Steps(e)
	}
	kernels := func(l []string) bool {
		return slices.Contains(l, std.ScaledDotProductAttention.Name) && !slices.Contains(l, std.Softmax.Name)
	}
	require.True(t, kernels(steps(array.BF16, 256)))
	require.False(t, kernels(steps(array.F32, 257)))
	require.False(t, kernels(steps(array.F64, 8)))
}
