package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// attentionCall is a call of scaled_dot_product_attention.
type attentionCall struct {
	name  string
	attrs std.AttentionAttrs
	in    []*array.Array
	order [4][]int // of the dimensions of an operand as they lie, its own inverse
}

// numbers are random numbers of a normal distribution.
func numbers(r *rand.Rand, d array.DType, dims ...int) *array.Array {
	a := array.New(d, dims...)
	for i := range a.Len() {
		array.SetFloat64At(a, i, r.NormFloat64())
	}
	return a
}

// randomAttention makes a call of any layout, mask and type.
func randomAttention(r *rand.Rand, d array.DType) attentionCall {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	b, h := pick(1, 2), pick(1, 2, 4)
	l, s := pick(1, 2, 5, 13, 33, 70), pick(1, 3, 7, 16, 65, 130)
	e, v := pick(1, 3, 8, 16, 33, 64), pick(1, 4, 5, 17, 24, 64)
	c := attentionCall{}
	q, k := numbers(r, d, b, h, l, e), numbers(r, d, b, h, s, e)
	switch r.IntN(4) {
	case 0: // as heads of [B, L, H, E] lie
		c.order = [4][]int{{0, 2, 1, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}}
	case 1:
		if g := h / pick(1, 2); g > 0 && h%g == 0 {
			k, c.attrs.EnableGqa = numbers(r, d, b, g, s, e), true
		}
	case 2:
		k = numbers(r, d, h, s, e)
	}
	c.in = []*array.Array{q, k, numbers(r, d, b, h, s, v)}
	if r.IntN(3) == 0 {
		c.attrs.Scale = op.Float(pick2(r, 0.25, -1, 2))
	}
	switch r.IntN(5) {
	case 0:
		c.attrs.IsCausal = true
	case 1: // of padding, one without any position
		m := array.New(array.Bool, b, 1, 1, s)
		for i := range s {
			array.SetInt64At(m, i, int64(r.IntN(2)))
		}
		c.in = append(c.in, m)
	case 2:
		m := array.New(array.Bool, h, l, s)
		for i := range m.Len() {
			array.SetInt64At(m, i, int64(r.IntN(4)/3))
		}
		c.in = append(c.in, m)
	case 3: // one query has no score at all
		m := numbers(r, d, l, s)
		for i := range s {
			array.SetFloat64At(m, i, math.Inf(-1))
		}
		c.in = append(c.in, m)
	}
	c.name = fmt.Sprintf("%+v", c.attrs)
	for _, a := range c.in {
		c.name += fmt.Sprint(" ", a.DType(), a.Shape())
	}
	return c
}

func pick2(r *rand.Rand, n ...float64) float64 { return n[r.IntN(len(n))] }

// exactly is the result of a call in f32, rounded once: the expansion of an eager call rounds scores, too.
func exactly(t *testing.T, c attentionCall) *array.Array {
	t.Helper()
	d := c.in[0].DType()
	in := slices.Clone(c.in)
	for i, a := range in {
		if a.DType() == d {
			in[i] = array.Cast(a, array.F32)
		}
	}
	w, err := std.ScaledDotProductAttention.Eval(&kernel.Workspace{}, c.attrs, in)
	require.NoError(t, err, c.name)
	return array.Cast(w[0], d)
}

// attends runs calls in one program next to the processor, and returns how many kernels a run has.
func attends(t *testing.T, g gpu.Target, calls []attentionCall) int {
	t.Helper()
	b := newTogether(t)
	var want []*array.Array
	in := make([][]*graph.Node, len(calls))
	for i, c := range calls {
		lie := slices.Clone(c.in)
		for k, order := range c.order {
			if order != nil {
				lie[k] = array.Contiguous(array.Permute(c.in[k], order...))
			}
		}
		in[i] = b.operands(lie)
	}
	for i, c := range calls {
		for k, order := range c.order {
			if order != nil {
				in[i][k] = b.c.Function(std.Permute, std.PermuteAttrs{Dims: op.IntList(order...)}, in[i][k])
			}
		}
		want = append(want, exactly(t, c))
		b.result(b.c.Function(std.ScaledDotProductAttention, c.attrs, in[i]...), i)
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	got, err := e.Run(ctx, b.in)
	require.NoError(t, err)
	for i, c := range calls {
		if d := fxtest.Beyond(std.ScaledDotProductAttention, c.attrs, c.in, want[i], got[i]); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	return e.(*gpu.Executable).Stats().Launches
}

func attentionCalls(seed uint64, n int) []attentionCall {
	r := rand.New(rand.NewPCG(seed, 59))
	calls := make([]attentionCall, n)
	for i := range calls {
		calls[i] = randomAttention(r, []array.DType{array.F32, array.F32, array.F16, array.BF16}[i%4])
	}
	return calls
}

// TestAttentionOfAnyShape compares random calls with the processor: where a work-item has
// some queries, and where a group has, on both kinds of devices.
func TestAttentionOfAnyShape(t *testing.T) {
	few, many := 2, 15
	if fxtest.IsNightly() {
		few, many = 60, 100
	}
	t.Run("alone", func(t *testing.T) { attends(t, target(t), attentionCalls(1, few)) })
	t.Run("groups", func(t *testing.T) { attends(t, grouped(t), attentionCalls(2, few)) })
	t.Run("cuda", func(t *testing.T) {
		g, l := onCUDA(t)
		attends(t, g, attentionCalls(3, many))
		attends(t, gpu.Target{Device: run.NewDevice(processor{run.Driver(g.Device)}), Cache: "-"}, attentionCalls(4, many))
		ptx(t, l.sources)
	})
}
