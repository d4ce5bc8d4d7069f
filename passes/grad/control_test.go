package grad_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// twice runs a graph in the interpreter and in a plan, which must agree.
func twice(t *testing.T, m *graph.Module, in ...*array.Array) (out [][]float64) {
	t.Helper()
	list, err := fx.NewGraphModule(graph.Clone(m)).RunArrays(ctx, in)
	require.NoError(t, err, "%s", m)
	planned, err := inPlan(m, in)
	require.NoError(t, err, "%s", m)
	for i, a := range list {
		near(t, a, planned[i], 1e-12)
		out = append(out, array.Data[float64](array.Contiguous(a)))
	}
	return out
}

const squaring = `graph net(%x: f64[], %trips: i64[]) {
  %zero = call_function[full]() {value=0, dtype=i64} : i64[]
  %w = call_function[while](%zero, %x, %trips) {carry=2, max_trips=8} : (i64[], f64[]) {
    region cond(%i: i64[], %y: f64[], %n: i64[]) {
      %more = call_function[lt](%i, %n) : bool[]
      return %more
    }
    region body(%i: i64[], %y: f64[], %n: i64[]) {
      %next = call_function[add](%i) {other=1} : i64[]
      %z = call_function[mul](%y, %y) : f64[]
      return (%next, %z)
    }
  }
  %y = call_function[getitem](%w) {index=1} : f64[]
  return %y
}
`

func TestWhile(t *testing.T) {
	m := graphOf(t, squaring)
	g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	for n, want := range []float64{1, 2 * 1.1, 4 * math.Pow(1.1, 3), 8 * math.Pow(1.1, 7)} {
		out := twice(t, g, array.Scalar(1.1), array.Scalar(int64(n)))
		require.InDelta(t, math.Pow(1.1, math.Pow(2, float64(n))), out[0][0], 1e-12)
		require.InDelta(t, want, out[1][0], 1e-12, "%d trips", n)
	}
	second, err := grad.Gradient(ctx, g, grad.Options{Wrt: []string{"x"}, Loss: 1})
	require.NoError(t, err)
	for n, want := range []float64{0, 2, 12 * 1.1 * 1.1, 56 * math.Pow(1.1, 6)} {
		require.InDelta(t, want, twice(t, second, array.Scalar(1.1), array.Scalar(int64(n)))[0][0], 1e-11, "%d trips", n)
	}
}

// A while that says how many trips it makes is recorded, printed and read again with that.
func TestWhileAtMost(t *testing.T) {
	loop := func(x *tensor.Tensor) *tensor.Tensor {
		out := tensor.WhileAtMost(3, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(100) },
			func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(in[0])} }, x)
		return out[0]
	}
	gm, err := fx.Trace(ctx, loop, fx.Input("x", "f64[]"))
	require.NoError(t, err)
	require.Contains(t, gm.Module.String(), "max_trips=3")
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	for x, want := range map[float64]float64{200: 1, 11: 22, 4: 4 * 64, 2: 8 * 128} {
		require.InDelta(t, want, twice(t, g.Module, array.Scalar(x))[0][0], 1e-9)
	}
	require.Equal(t, 256.0, loop(tensor.New(array.Scalar(2.0))).Item())

	_, err = g.RunArrays(ctx, []*array.Array{array.Scalar(1.5)}) // 129 after 3 trips of 5 that it takes
	require.ErrorIs(t, err, tensor.TooManyTrips)
	require.ErrorContains(t, err, "control_test.go:")
	_, err = inPlan(g.Module, []*array.Array{array.Scalar(1.5)})
	require.ErrorIs(t, err, tensor.TooManyTrips)
	require.ErrorContains(t, err, "control_test.go:")
	func() {
		defer func() { require.ErrorIs(t, recover().(error), tensor.TooManyTrips) }()
		loop(tensor.New(array.Scalar(1.5)))
	}()
}
