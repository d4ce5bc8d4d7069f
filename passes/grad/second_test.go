package grad_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
)

// TestSecondOrder differentiates the gradients of operators again: of two samples of each, by
// GOFX_NIGHTLY=1 of all samples.
func TestSecondOrder(t *testing.T) {
	all := os.Getenv("GOFX_NIGHTLY") != ""
	operators, compared, kinks := 0, 0, 0
	for _, o := range op.All() {
		if way, _ := grad.How(o); way == grad.NoWay || way == grad.Stops || o.Path != "" && !strings.HasPrefix(o.Path, "github.com/gofx-dev/gofx/op") || o.Structural() || coarse[o.Name] != "" {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, uint64(len(o.Name))))
			left, before := 2, compared
			for _, s := range o.Samples() {
				c, err := callOf(o, s, r)
				if err != nil || left == 0 || !moderate(c.in) || coarse[o.Name+", "+s.Name] != "" {
					continue
				}
				if !all {
					left--
				}
				n, k := c.second(t, r, s.Name)
				compared, kinks = compared+n, kinks+k
			}
			if compared > before {
				operators++
			}
		})
	}
	t.Logf("%d operators, %d directions compared, %d at kinks", operators, compared, kinks)
}

// moderate tells whether derivatives of f64 are of use at the operands.
func moderate(in []*array.Array) bool {
	return !slices.ContainsFunc(in, func(a *array.Array) bool {
		return a != nil && a.DType() == array.F64 && slices.ContainsFunc(array.Data[float64](a), func(v float64) bool { return math.Abs(v) > 30 })
	})
}

// second compares the derivative of results and gradients along a direction.
func (c call) second(t *testing.T, r *rand.Rand, name string) (compared, kinks int) {
	names, _ := c.wrt()
	o := grad.Options{Wrt: names, AllowUnused: true, AllowEvaluation: true}
	first, err := grad.VJP(ctx, c.module(), o)
	if errors.Is(err, op.NoGradient) {
		return 0, 0 // counted in docs/grad.md
	}
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
	assert.InDelta(t, want, got, 2e-3*(1+math.Abs(want)), "%s\n%s\n%s", name, first, twice)
	return 1, 0
}

// The derivative of a product by a factor is zero where another factor is zero, but that derivative has one.
func TestSecondOrder_products(t *testing.T) {
	ones, index := vec(1, 1, 1), array.FromSlice([]int64{0, 0, 0}, 3)
	for _, c := range []struct {
		name string
		o    *op.Op
		call any
		in   func(x []float64) []*array.Array
	}{
		{"prod", std.Prod, std.ReduceAttrs{Dim: op.IntList(0)}, func(x []float64) []*array.Array { return []*array.Array{vec(x...)} }},
		{"scatter", std.Scatter, std.ScatterAttrs{Reduce: "multiply"}, func(x []float64) []*array.Array { return []*array.Array{vec(1), index, vec(x...)} }},
		{"scatter_reduce", std.ScatterReduce, std.ScatterReduceAttrs{Reduce: "prod"}, func(x []float64) []*array.Array { return []*array.Array{vec(1), index, vec(x...)} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, at := range []struct{ x, first, second []float64 }{
				{[]float64{2, 4, 3}, []float64{12, 6, 8}, []float64{7, 5, 6}},
				{[]float64{2, 0, 3}, []float64{0, 6, 0}, []float64{3, 5, 2}},
				{[]float64{0, 0, 3}, []float64{0, 0, 0}, []float64{3, 3, 0}},
				{[]float64{0, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 0}},
			} {
				in := c.in(at.x)
				k := call{o: c.o, attrs: c.call, in: in}
				out, err := k.eval(in)
				require.NoError(t, err)
				for _, a := range out {
					k.seeds = append(k.seeds, onesLike(a))
				}
				name := "x" + strconv.Itoa(len(in)-1)
				first, err := grad.VJP(ctx, k.module(), grad.Options{Wrt: []string{name}})
				require.NoError(t, err)
				given := k.inputs()
				got := values(t, graph.Clone(first), given...)
				require.Equal(t, at.first, got[len(got)-1])
				// The product with a direction of ones: the gradient of the sum of the gradient.
				twice, err := grad.VJP(ctx, first, grad.Options{Wrt: []string{name}})
				require.NoError(t, err)
				seeds := []*array.Array{array.New(array.F64, k.seeds[0].Shape()...), ones}
				got = values(t, twice, append(slices.Clone(given), seeds...)...)
				require.Equal(t, at.second, got[len(got)-1], "%v", at.x)
			}
		})
	}
}

func onesLike(a *array.Array) *array.Array {
	out := array.New(array.F64, a.Shape()...)
	for i := range array.Data[float64](out) {
		array.Data[float64](out)[i] = 1
	}
	return out
}
