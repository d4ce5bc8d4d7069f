package grad_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
)

// TestProductOfABatch: where a batch shares one matrix, its gradient is one product of two matrices, with
// nothing to add up; the gradients are those of differences.
func TestProductOfABatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		x, y, seed []int
		sums       int // reductions of all gradients
	}{
		{[]int{3, 4, 5}, []int{5, 2}, []int{3, 4, 2}, 0},
		{[]int{2, 3, 4, 5}, []int{5, 2}, []int{2, 3, 4, 2}, 0},
		{[]int{2, 1, 4, 5}, []int{1, 5, 2}, []int{2, 1, 4, 2}, 0},
		{[]int{3, 4, 5}, []int{1, 1, 5, 2}, []int{1, 3, 4, 2}, 0},
		{[]int{3, 4, 5}, []int{5}, []int{3, 4}, 0},
		{[]int{0, 4, 5}, []int{5, 2}, []int{0, 4, 2}, 0},
		{[]int{6, 5}, []int{3, 5, 2}, []int{3, 6, 2}, 0},
		{[]int{1, 6, 5}, []int{2, 3, 5, 1}, []int{2, 3, 6, 1}, 0},
		{[]int{2, 5}, []int{3, 5, 9}, []int{3, 2, 9}, 1}, // wide: bringing columns together moves more
		{[]int{5}, []int{3, 5, 2}, []int{3, 2}, 1},
		{[]int{2, 1, 4, 5}, []int{3, 5, 2}, []int{2, 3, 4, 2}, 2}, // each serves the other's batch
		{[]int{4, 5}, []int{5, 2}, []int{4, 2}, 0},
		{[]int{1, 4, 5}, []int{1, 5, 2}, []int{1, 4, 2}, 0},
		{[]int{1, 4, 5}, []int{5, 2}, []int{1, 4, 2}, 0}, // a batch of one: nothing to add up either
		{[]int{1, 1, 4, 5}, []int{1, 5, 2}, []int{1, 1, 4, 2}, 0},
		{[]int{4, 5}, []int{1, 5, 2}, []int{1, 4, 2}, 0},
	} {
		t.Run(fmt.Sprint(c.x, c.y), func(t *testing.T) {
			k := call{o: std.Matmul, attrs: op.None{}, in: []*array.Array{random(r, c.x...), random(r, c.y...)}, seeds: []*array.Array{random(r, c.seed...)}}
			require.Empty(t, k.check(new(tally)))
			m, err := grad.VJP(ctx, k.module(), grad.Options{Wrt: []string{"x0", "x1"}})
			require.NoError(t, err)
			require.Equal(t, c.sums, strings.Count(m.String(), "[sum]"), "%s", m)
			k.second(t, r, "product")
		})
	}
}

// TestProductOfAnOpenBatch: the rows of a batch of open size are a product of its symbols.
func TestProductOfAnOpenBatch(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[B,T,3], %w: f64[3,2]) {
  symbol B = dim(%x, 0)
  symbol T = dim(%x, 1)
  %y = call_function[matmul](%x, %w) : f64[B,T,2]
  %q = call_function[square](%y) : f64[B,T,2]
  %s = call_function[sum](%q) : f64[]
  return %s
}
`)
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"x", "w"}})
	require.NoError(t, err)
	require.Contains(t, g.String(), "f64[B*T,2]")
	require.Equal(t, 1, strings.Count(g.String(), "[sum]"), "that of the loss\n%s", g)
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range [][2]int{{1, 1}, {2, 5}, {0, 3}} {
		x, w := random(r, n[0], n[1], 3), random(r, 3, 2)
		out := values(t, g, x, w)
		flat, err := fx.NewGraphModule(m).RunArrays(ctx, []*array.Array{x, w})
		require.NoError(t, err)
		require.InDelta(t, array.Float64At(flat[0], 0), out[0][0], 1e-12)
		for i := range array.Data[float64](w) { // a quadratic: differences are exact
			at := func(v float64) float64 {
				moved := array.Clone(w)
				array.Data[float64](moved)[i] += v
				return values(t, m, x, moved)[0][0]
			}
			require.InDelta(t, (at(1)-at(-1))/2, out[2][i], 1e-9)
		}
	}
}
