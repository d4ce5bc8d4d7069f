package grad_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

const twoResults = `graph net(%x: f64[3], %w: f64[3], %n: i64[]) {
  %y = call_function[mul](%x, %w) : f64[3]
  %s = call_function[sin](%y) : f64[3]
  %l = call_function[sum](%s) : f64[]
  return (%y, %n, %l)
}
`

// y = x·w and sum(sin y), in the direction (u, v): the change of y is u·w + x·v.
func TestJVP_closedForm(t *testing.T) {
	m := graphOf(t, twoResults)
	j, err := grad.JVP(ctx, m, grad.Options{Wrt: []string{"x", "w"}})
	require.NoError(t, err)
	var names []string
	for _, n := range j.Graph.Inputs() {
		names = append(names, n.Target())
	}
	require.Equal(t, []string{"x", "w", "n", "tangent_0", "tangent_1"}, names)
	x, w, u, v := []float64{1, 2, 3}, []float64{.5, -1, 2}, []float64{1, 0, 2}, []float64{.25, 3, -1}
	out, err := fx.NewGraphModule(j).RunArrays(ctx, []*array.Array{vec(x...), vec(w...), array.Scalar(int64(7)), vec(u...), vec(v...)})
	require.NoError(t, err)
	require.Len(t, out, 5, "the results, and the changes of those that hold floats")
	require.EqualValues(t, 7, array.Int64At(out[1], 0))
	want, sum := make([]float64, 3), 0.
	for i := range want {
		want[i] = u[i]*w[i] + x[i]*v[i]
		sum += math.Cos(x[i]*w[i]) * want[i]
	}
	require.InDeltaSlice(t, want, array.Data[float64](array.Contiguous(out[3])), 1e-12)
	require.InDelta(t, sum, array.Float64At(out[4], 0), 1e-12)
	again, err := graph.Parse([]byte(j.String()), "net.fx")
	require.NoError(t, err)
	require.Equal(t, j.String(), again.String())
}

// A result that does not depend on the tensor does not change; the loss of HVP may be linear.
func TestJVP_zeros(t *testing.T) {
	m := graphOf(t, "graph net(%x: f64[2], %y: f64[2]) {\n %a = call_function[mul](%x, %x) : f64[2]\n %b = call_function[exp](%y) : f64[2]\n return (%a, %b)\n}\n")
	j, err := grad.JVP(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	require.Equal(t, [][]float64{{9, 25}, {1, 1}, {6, 20}, {0, 0}}, values(t, j, vec(3, 5), vec(0, 0), vec(1, 2)))
	m = graphOf(t, "graph net(%x: f64[2]) {\n %l = call_function[sum](%x) : f64[]\n return %l\n}\n")
	h, err := grad.HVP(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.NoError(t, err)
	require.Equal(t, [][]float64{{3}, {1, 1}, {0, 0}}, values(t, h, vec(1, 2), vec(5, 6)))
	_, err = grad.JVP(ctx, m, grad.Options{Wrt: []string{"y"}})
	require.ErrorIs(t, err, grad.NoSuchTensor)
}

// sum(x^3 w): the Hessian by x is diag(6 x w), by x and w it has 3 x^2 next to it.
func TestHVP_closedForm(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x, w *tensor.Tensor) *tensor.Tensor { return x.PowScalar(3).Mul(w).Sum() }, fx.Input("x", "f64[N]"), fx.Input("w", "f64[N]"))
	require.NoError(t, err)
	h, err := gm.HVP(ctx, fx.GradOptions{Wrt: []string{"x", "w"}})
	require.NoError(t, err)
	got := values(t, h.Module, vec(1, 2), vec(.5, 3), vec(1, -1), vec(2, 4))
	require.InDeltaSlice(t, []float64{24.5}, got[0], 1e-12)
	require.InDeltaSlice(t, []float64{1.5, 36}, got[1], 1e-12)
	require.InDeltaSlice(t, []float64{1, 8}, got[2], 1e-12)
	require.InDeltaSlice(t, []float64{6*.5*1 + 3*2, 6*2*3*-1 + 12*4}, got[3], 1e-12)
	require.InDeltaSlice(t, []float64{3, -12}, got[4], 1e-12)
}

// Products of a small network agree with differences of its results and gradients.
func TestForward_againstDifferences(t *testing.T) {
	l, k := nn.NewLinear(3, 4), nn.NewLinear(4, 2)
	w, v := array.Cast(l.Weight.Array(), array.F64), array.Cast(k.Weight.Array(), array.F64)
	gm, err := fx.Trace(ctx, func(x, w, v *tensor.Tensor) *tensor.Tensor {
		h := x.Matmul(w.T()).LayerNorm(nil, nil, 4, 1e-5).Gelu()
		return h.Matmul(v.T()).LogSoftmax(-1).Square().Mean()
	}, fx.Input("x", "f64[2,3]"), fx.Input("w", "f64[4,3]"), fx.Input("v", "f64[2,4]"))
	require.NoError(t, err)
	x := array.FromSlice([]float64{1, 2, 3, -1, .5, 0}, 2, 3)
	dw := array.FromSlice([]float64{1, 0, -1, .5, 2, 0, 0, 1, 1, -1, 0, .25}, 4, 3)
	dv := array.FromSlice([]float64{1, 1, 0, -1, 2, 0, .5, 0}, 2, 4)
	o := fx.GradOptions{Wrt: []string{"w", "v"}}
	at := func(g *fx.GraphModule, s float64, more ...*array.Array) []*array.Array {
		moved := func(a, d *array.Array) *array.Array {
			return tensor.New(a).Add(tensor.New(d).MulScalar(s)).Array()
		}
		out, err := g.RunArrays(ctx, append([]*array.Array{x, moved(w, dw), moved(v, dv)}, more...))
		require.NoError(t, err)
		return out
	}
	slope := func(g *fx.GraphModule, i int) []float64 {
		const step = 1e-5
		a, b := tensor.New(at(g, step)[i]), tensor.New(at(g, -step)[i])
		return tensor.Data[float64](a.Sub(b).MulScalar(.5 / step).Clone())
	}
	j, err := gm.JVP(ctx, o)
	require.NoError(t, err)
	require.InDeltaSlice(t, slope(gm, 0), array.Data[float64](at(j, 0, dw, dv)[1]), 1e-8)
	g, err := gm.ValueAndGrad(ctx, o)
	require.NoError(t, err)
	h, err := gm.HVP(ctx, o)
	require.NoError(t, err)
	out := at(h, 0, dw, dv)
	require.InDeltaSlice(t, slope(g, 1), array.Data[float64](array.Contiguous(out[3])), 1e-7)
	require.InDeltaSlice(t, slope(g, 2), array.Data[float64](array.Contiguous(out[4])), 1e-7)
}
