package grad_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

func vec(v ...float64) *array.Array { return array.FromSlice(v, len(v)) }

func mat(rows int, v ...float64) *array.Array { return array.FromSlice(v, rows, len(v)/rows) }

// gradients returns the gradients of a call for seeds by all its operands that are floats.
func gradients(t *testing.T, c call) [][]float64 {
	t.Helper()
	names, operands := c.wrt()
	m, err := grad.VJP(ctx, c.module(), grad.Options{Wrt: names, AllowUnused: true, AllowEvaluation: true})
	require.NoError(t, err)
	out, err := fx.NewGraphModule(m).RunArrays(ctx, c.inputs())
	require.NoError(t, err, "%s", m)
	var list [][]float64
	for _, g := range out[len(out)-len(operands):] {
		list = append(list, array.Data[float64](array.Contiguous(g)))
	}
	return list
}

// Values at kinks, zeros, ties and infinities are PyTorch's, except where a comment says so.
func TestTraps(t *testing.T) {
	one := vec(1)
	for _, c := range []struct {
		name  string
		o     *op.Op
		attrs any
		in    []*array.Array
		seed  *array.Array
		want  [][]float64
	}{
		{"clamp", std.Clamp, std.ClampAttrs{Min: op.Float(-1), Max: op.Float(1)}, []*array.Array{vec(-1, 0, 1, 2)}, vec(1, 1, 1, 1), [][]float64{{1, 1, 1, 0}}},
		// Straight through the rounding; a sum of the integers and fractions by the scale.
		{"fake_quantize", std.FakeQuantize, std.FakeQuantizeAttrs{DType: array.I8}, []*array.Array{vec(-13, -12.8, 12.74, 12.76, 20), array.Scalar(0.1), nil}, vec(1, 1, 1, 1, 1), [][]float64{{0, 1, 1, 0, 0}, {-128 + 0 - 0.4 + 127 + 127}}},
		{"fake_quantize, learned", std.FakeQuantize, std.FakeQuantizeAttrs{DType: array.I8}, []*array.Array{vec(-13, -.04, .06, 1.27, 20), array.Scalar(0.1), array.Scalar(0.0)}, vec(1, 1, 1, 1, 1), [][]float64{{0, 1, 1, 1, 0}, {0.1}, {-0.2}}},
		{"hardtanh", std.Hardtanh, std.HardtanhAttrs{MinVal: -1, MaxVal: 1}, []*array.Array{vec(-1, 0, 1)}, vec(1, 1, 1), [][]float64{{0, 1, 0}}},
		{"relu", std.Relu, nil, []*array.Array{vec(-1, 0, 2, inf)}, vec(nan, 1, 1, 3), [][]float64{{0, 0, 1, 3}}},
		{"logsigmoid", std.Logsigmoid, nil, []*array.Array{vec(0)}, one, [][]float64{{0.5}}},
		{"logaddexp", std.Logaddexp, nil, []*array.Array{vec(1), vec(1)}, one, [][]float64{{0.5}, {0.5}}},
		{"maximum", std.Maximum, std.BinaryAttrs{}, []*array.Array{vec(1, 2), vec(1, 3)}, vec(1, 1), [][]float64{{0.5, 0}, {0.5, 1}}},
		{"asin", std.Asin, nil, []*array.Array{vec(-1, 0, 1)}, vec(1, 1, 1), [][]float64{{inf, 1, inf}}},
		{"acos", std.Acos, nil, []*array.Array{vec(-1, 0, 1)}, vec(1, 1, 1), [][]float64{{-inf, -1, -inf}}},
		{"atanh", std.Atanh, nil, []*array.Array{vec(-1, 0, 1)}, vec(1, 1, 1), [][]float64{{inf, 1, inf}}},
		{"elu", std.Elu, std.AlphaAttrs{Alpha: 1}, []*array.Array{vec(inf)}, one, [][]float64{{1}}},
		{"celu", std.Celu, std.AlphaAttrs{Alpha: 1}, []*array.Array{vec(inf)}, one, [][]float64{{1}}},
		{"selu", std.Selu, nil, []*array.Array{vec(inf)}, one, [][]float64{{1.0507009873554805}}},
		{"softplus", std.Softplus, std.SoftplusAttrs{Beta: 1, Threshold: 20}, []*array.Array{vec(inf)}, one, [][]float64{{1}}},
		{"sinh", std.Sinh, nil, []*array.Array{vec(-inf, inf)}, vec(1, 1), [][]float64{{inf, inf}}},
		{"cosh", std.Cosh, nil, []*array.Array{vec(-inf, inf)}, vec(1, 1), [][]float64{{-inf, inf}}},
		{"asinh", std.Asinh, nil, []*array.Array{vec(0)}, one, [][]float64{{1}}},
		{"norm at 0", std.Norm, std.NormAttrs{Dim: op.IntList(0)}, []*array.Array{vec(0, 0)}, array.Scalar(1.0), [][]float64{{0, 0}}},
		{"std at 0", std.Std, std.VarAttrs{Dim: op.IntList(0)}, []*array.Array{vec(2, 2, 2)}, array.Scalar(1.0), [][]float64{{0, 0, 0}}},
		{"prod with 0", std.Prod, std.ReduceAttrs{Dim: op.IntList(0)}, []*array.Array{vec(2, 0, 3)}, array.Scalar(1.0), [][]float64{{0, 6, 0}}},
		{"amax of ties", std.Amax, std.ReduceAttrs{Dim: op.IntList(0)}, []*array.Array{vec(1, 2, 2)}, array.Scalar(1.0), [][]float64{{0, 0.5, 0.5}}},
		{"max_dim of ties", std.MaxDim, std.MinMaxAttrs{Dim: 0}, []*array.Array{vec(1, 2, 2)}, array.Scalar(1.0), [][]float64{{0, 1, 0}}},
		{"max_pool1d of ties", std.MaxPool1d, std.MaxPoolAttrs{KernelSize: op.IntList(3)}, []*array.Array{array.FromSlice([]float64{1, 2, 2}, 1, 1, 3)}, array.FromSlice([]float64{1}, 1, 1, 1), [][]float64{{0, 1, 0}}},
		// Of two writes to one place the last has the gradient; PyTorch gives it to both.
		{"scatter twice", std.Scatter, std.ScatterAttrs{Dim: 0}, []*array.Array{vec(1, 2, 3), array.FromSlice([]int64{1, 1}, 2), vec(5, 7)}, vec(1, 1, 1), [][]float64{{1, 0, 1}, {0, 1}}},
		{"scatter a row", std.Scatter, std.ScatterAttrs{Dim: -2}, []*array.Array{mat(3, 1, 2, 3, 4, 5, 6), array.FromSlice([]int64{2, 0}, 1, 2), mat(1, 7, 8)}, mat(3, 1, 2, 3, 4, 5, 6), [][]float64{{1, 0, 3, 4, 0, 6}, {5, 2}}},
		{"normalize at 0", std.Normalize, std.NormalizeAttrs{P: 2, Dim: 1, Eps: 1e-12}, []*array.Array{mat(1, 0, 0)}, mat(1, 1, 2), [][]float64{{1e12, 2e12}}},
		{"pow of 0", std.Pow, std.ReversibleAttrs{}, []*array.Array{vec(0, 0, 2), vec(0, 2, 3)}, vec(1, 1, 1), [][]float64{{0, 0, 12}, {0, 0, 8 * math.Ln2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.attrs == nil {
				c.attrs = c.o.Codec().Zero()
			}
			k := call{o: c.o, attrs: c.attrs, in: c.in, seeds: []*array.Array{c.seed}}
			if len(c.o.Results) > 1 {
				k.seeds = append(k.seeds, nil)
			}
			for i, got := range gradients(t, k) {
				require.Len(t, got, len(c.want[i]))
				for j := range got {
					require.True(t, got[j] == c.want[i][j] || math.Abs(got[j]-c.want[i][j]) <= 1e-9*math.Abs(c.want[i][j]), "operand %d: got %v, want %v", i, got, c.want[i])
				}
			}
		})
	}
}

// graphOf parses a graph for f64.
func graphOf(t *testing.T, body string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n\n"+body), "net.fx")
	require.NoError(t, err)
	return m
}

// values runs a graph and returns its results.
func values(t *testing.T, m *graph.Module, in ...*array.Array) (out [][]float64) {
	t.Helper()
	list, err := fx.NewGraphModule(m).RunArrays(ctx, in)
	require.NoError(t, err, "%s", m)
	for _, a := range list {
		out = append(out, array.Data[float64](array.Contiguous(a)))
	}
	return out
}

func TestBatchNormInTraining(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[3,1], %w: f64[1], %b: f64[1]) {
  %y = call_function[batch_norm](%x, _, _, %w, %b) {eps=1e-05, training=true} : f64[3,1]
  return %y
}
`)
	g, err := grad.VJP(ctx, m, grad.Options{Wrt: []string{"x", "w", "b"}})
	require.NoError(t, err)
	out := values(t, g, mat(3, 1, 3, 8), vec(2), vec(0), mat(3, 1, 5, 2))
	require.InDeltaSlice(t, []float64{-1.13228, 1.58519, -0.452911}, out[1], 1e-5)
	require.InDelta(t, 0, out[2][0], 1e-5)
	require.Equal(t, 8.0, out[3][0])
}

// A parameter that is read twice, and by itself, has one gradient.
func TestTiedParameters(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[]) {
  %a = get_attr[w] : f64[]
  %b = get_attr[w] : f64[]
  %twice = call_function[mul](%a) {other=2.0} : f64[]
  %y = call_function[mul](%twice, %b) : f64[]
  return %y
}
`)
	m.SetParam(graph.Param{Path: "w", Value: array.Scalar(3.0)})
	g, err := grad.Gradient(ctx, m, grad.Options{})
	require.NoError(t, err)
	require.Equal(t, [][]float64{{12}}, values(t, g, array.Scalar(0.0)))
}

func TestSecondOrder_cube(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[]) {
  %y = call_function[pow](%x) {other=3} : f64[]
  return %y
}
`)
	first, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	second, err := grad.Gradient(ctx, first, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	require.InDelta(t, 12, values(t, second, array.Scalar(2.0))[0][0], 1e-12)
}

// What is added to a wide tensor is added up over the symbol by which it was stretched.
func TestGradients_symbolsStaySymbols(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[N,3], %b: f64[3], %s: f64[]) {
  symbol N = dim(%x, 0)
  %y = call_function[add](%x, %b) : f64[N,3]
  %z = call_function[mul](%y, %s) : f64[N,3]
  %m = call_function[mean](%z) : f64[]
  return %m
}
`)
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"x", "b", "s"}})
	require.NoError(t, err)
	require.Contains(t, g.String(), "f64[N,3]")
	for _, n := range []int{1, 2, 5} {
		x := array.New(array.F64, n, 3)
		out := values(t, g, x, vec(1, 2, 3), array.Scalar(2.0))
		require.InDelta(t, 4, out[0][0], 1e-12)
		require.InDeltaSlice(t, []float64{2. / 3, 2. / 3, 2. / 3}, out[2], 1e-12)
		require.InDelta(t, 2, out[3][0], 1e-12)
	}
}

// A write of state comes after the gradient that reads the old value.
func TestWritesComeLast(t *testing.T) {
	m := graphOf(t, `graph net(%x: f64[2]) {
  %s = get_attr[s] : f64[2]
  %y = call_function[mul](%x, %s) : f64[2]
  %z = call_function[mul](%y, %y) : f64[2]
  %next = call_function[assign](%s, %y) : f64[2]
  %sum = call_function[sum](%z) : f64[]
  return %sum
}
`)
	m.SetParam(graph.Param{Path: "s", Value: vec(2, 3), Buffer: true})
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	gm := fx.NewGraphModule(g)
	run := func() []float64 {
		out, err := gm.RunArrays(ctx, []*array.Array{vec(1, 1)})
		require.NoError(t, err)
		return array.Data[float64](out[1])
	}
	require.Equal(t, []float64{8, 18}, run())
	require.Equal(t, []float64{8, 18}, run(), "what was written are the same numbers")
	out, err := gm.RunArrays(ctx, []*array.Array{vec(2, 1)})
	require.NoError(t, err)
	require.Equal(t, []float64{16, 18}, array.Data[float64](out[1]))
	require.Equal(t, []float64{32, 18}, run(), "the state is what the run before wrote")
}
