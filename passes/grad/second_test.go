package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
)

// TestSecondOrder differentiates the gradients of elementwise operators again.
func TestSecondOrder(t *testing.T) {
	compared, kinks := 0, 0
	for _, o := range op.All() {
		if way, _ := grad.How(o); way != grad.ByExpression || o.Path != "" || coarse[o.Name] != "" {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, uint64(len(o.Name))))
			left := 2
			for _, s := range o.Samples() {
				c, err := callOf(o, s, r)
				if err != nil || left == 0 || !moderate(c.in) {
					continue
				}
				left--
				n, k := c.second(t, r)
				compared, kinks = compared+n, kinks+k
			}
		})
	}
	t.Logf("%d directions, %d of them at kinks", compared, kinks)
}

// moderate tells whether derivatives of f64 are of use at the operands.
func moderate(in []*array.Array) bool {
	return !slices.ContainsFunc(in, func(a *array.Array) bool {
		return a != nil && a.DType() == array.F64 && slices.ContainsFunc(array.Data[float64](a), func(v float64) bool { return math.Abs(v) > 30 })
	})
}

// second compares the derivative of results and gradients along a direction.
func (c call) second(t *testing.T, r *rand.Rand) (compared, kinks int) {
	names, _ := c.wrt()
	o := grad.Options{Wrt: names, AllowUnused: true, AllowEvaluation: true}
	first, err := grad.VJP(ctx, c.module(), o)
	require.NoError(t, err)
	twice, err := grad.VJP(ctx, first, o)
	require.NoError(t, err, "%s", first)
	in := c.inputs()
	p := point{m: first, in: in, wrt: names, move: map[string]*array.Array{}}
	for i, n := range first.Graph.Inputs() {
		if slices.Contains(names, n.Target()) {
			p.move[n.Target()] = random(r, in[i].Shape()...)
		}
	}
	out, err := fx.NewGraphModule(graph.Clone(first)).RunArrays(ctx, in)
	require.NoError(t, err)
	for _, a := range out {
		p.seed = append(p.seed, random(r, a.Shape()...))
	}
	all, err := fx.NewGraphModule(twice).RunArrays(ctx, append(slices.Clone(in), p.seed...))
	require.NoError(t, err, "%s", twice)
	got := p.product(all[len(all)-len(names):])
	want, smooth := p.differences(1e-6)
	if !smooth {
		return 0, 1
	}
	require.InDelta(t, want, got, 2e-3*(1+math.Abs(want)), "%s\n%s", first, twice)
	return 1, 0
}
