package integer_test

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/shape"
)

var ctx = context.Background()

func TestLowerGoldens(t *testing.T) {
	passtest.Golden(t, "testdata/"+integer.Lower.Name, integer.Lower)
}

// reference is what a sample of an operator stands for, as a graph: quantised values
// are inputs, everything else is a parameter.
func reference(t *testing.T, o *op.Op, s op.Sample) (m *graph.Module, in []*array.Array) {
	t.Helper()
	g := graph.New("reference")
	m = graph.NewModule(g)
	c := g.At()
	args := make([]op.Value, len(s.In))
	for i, a := range s.In {
		if a != nil && a.Len() != 1 && a.DType().IsInt() && a.DType() != array.I32 {
			in = append(in, a)
			args[i] = c.Placeholder("p"+strconv.Itoa(i), shape.TypeOf(a), nil)
		}
	}
	for i, a := range s.In {
		if a != nil && args[i] == nil {
			path := "p" + strconv.Itoa(i)
			m.SetParam(graph.Param{Path: path, Value: a})
			args[i] = c.GetAttr(path)
		}
	}
	c.Output(nil, o.Reference(c, s.Attrs, args).(*graph.Node))
	require.Empty(t, graph.Lint(g))
	return m, in
}

func run(t *testing.T, m *graph.Module, in []*array.Array) *array.Array {
	t.Helper()
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out[0]
}

// TestLower_findsOperators lowers the reference of every sample: where it
// becomes the operator, results are within a quantum.
func TestLower_findsOperators(t *testing.T) {
	least := map[*op.Op]int{std.QLinear: 20, std.QMatmul: 20, std.QConv1d: 25, std.QConv2d: 25, std.QConv3d: 25,
		std.QAdd: 8, std.QMul: 8, std.QAvgPool: 10, std.QConcat: 6, std.QEmbedding: 8}
	for o, want := range least {
		found := 0
		for _, s := range o.Samples() {
			m, in := reference(t, o, s)
			after := graph.Clone(m)
			_, err := passes.Run(context.Background(), after, []passes.Pass{integer.Lower}, passes.Options{})
			require.NoError(t, err, "%s: %s", o.Name, s.Name)
			for range after.Graph.Calls(o) {
				found++
			}
			near(t, o.Name+": "+s.Name, run(t, m, in), run(t, after, in))
		}
		require.GreaterOrEqual(t, found, want, o.Name)
	}
}

// near requires bytes to be at most one apart, floats to be close.
func near(t *testing.T, what string, want, got *array.Array) {
	t.Helper()
	require.Equal(t, want.DType(), got.DType(), what)
	require.Equal(t, want.Shape(), got.Shape(), what)
	for i := range want.Len() {
		w, tol := array.Float64At(want, i), 1.0
		if want.DType().IsFloat() {
			tol = 1e-5 * max(1, math.Abs(w))
		}
		require.InDelta(t, w, array.Float64At(got, i), tol, what)
	}
}

// TestLower_tablesOfAnyAxis has one scale and an axis, as graphs from elsewhere do.
func TestLower_tablesOfAnyAxis(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: u8[2,4,3]) {
  %s = get_attr[s] : f32[]
  %a = call_function[dequantize](%x, %s) {axis=1}
  %b = call_function[tanh](%a)
  %c = call_function[quantize](%b, %s, _) {axis=1}
  return %c
}
param s : f32[]
`)
	m.Param("s").Value = array.Scalar(float32(0.02))
	quanttest.Pipeline(t, m, integer.Lower)
	require.Contains(t, m.String(), "= call_function[q_table](%x, ")
}
