package grad_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
)

// deepGraph returns a graph of about so many nodes: layers of a product, a bias, an activation and
// a sum with what was two layers before, each with parameters of its own.
func deepGraph(tb testing.TB, nodes int) *graph.Module {
	g := graph.New("deep")
	m := graph.NewModule(g)
	t, err := shape.ParseType("f32[16,8]")
	require.NoError(tb, err)
	x := g.At().Placeholder("x", t, nil)
	before := x
	for i := 0; g.Len() < nodes; i++ {
		c := g.At()
		read := func(name string, dims ...int) *graph.Node {
			path := "layer" + strconv.Itoa(i) + "." + name
			m.SetParam(graph.Param{Path: path, Value: array.New(array.F32, dims...)})
			return c.GetAttr(path)
		}
		y := c.Function(std.Linear, nil, x, read("weight", 8, 8), read("bias", 8))
		y = c.Function(std.Gelu, std.GeluAttrs{}, y)
		before, x = x, c.Function(std.Add, std.AddAttrs{}, c.Function(std.Mul, nil, y, x), before)
	}
	g.At().Output(nil, g.At().Function(std.Mean, std.ReduceAttrs{}, x))
	return m
}

// BenchmarkGradient makes the gradient of deep graphs by all their parameters.
func BenchmarkGradient(b *testing.B) {
	for _, nodes := range []int{1250, 5000, 20000} {
		m := deepGraph(b, nodes)
		b.Run(strconv.Itoa(nodes), func(b *testing.B) {
			for b.Loop() {
				_, err := grad.ValueAndGrad(ctx, m, grad.Options{})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*nodes), "µs/node")
		})
	}
}
