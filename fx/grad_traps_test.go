package fx_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

// The gradient of a product of two weights uses both as they were: an update of one first, and
// of the other by what came of it, would end at 2.83.
func TestGrad_updatesTogether(t *testing.T) {
	m := &factors{W1: tensor.Param(array.FromSlice([]float64{2}, 1)), W2: tensor.Param(array.FromSlice([]float64{3}, 1))}
	gm, err := fx.Trace(t.Context(), m, fx.Input("x", "f64[1]"))
	require.NoError(t, err)
	_, err = gm.Run(t.Context(), tensor.New(vec64(1)))
	require.NoError(t, err)
	require.InDelta(t, 1.7, m.W1.Sum().Item(), 1e-12)
	require.InDelta(t, 2.8, m.W2.Sum().Item(), 1e-12)
}

type factors struct{ W1, W2 *tensor.Tensor }

func (m *factors) Forward(x *tensor.Tensor) *tensor.Tensor {
	loss := m.W2.Mul(m.W1).Mul(x).Sum()
	g := tensor.Grad(loss, m.W1, m.W2)
	m.W1.SubInPlace(g[0].MulScalar(0.1))
	m.W2.SubInPlace(g[1].MulScalar(0.1))
	return loss
}

// Squaring three times gives x^8, and no trips x itself.
func TestGrad_squaringInALoop(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x, trips *tensor.Tensor) *tensor.Tensor {
		return tensor.WhileAtMost(5, func(c []*tensor.Tensor) *tensor.Tensor { return c[0].Lt(trips) },
			func(c []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c[0].AddScalar(1), c[1].Square()} },
			tensor.Scalar(int64(0)), x)[1].Sum()
	}, fx.Input("x", "f64[1]"), fx.Input("trips", "i64[]"))
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(t.Context(), fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	for trips, want := range map[int64]float64{0: 1, 1: 2.2, 3: 8 * math.Pow(1.1, 7)} {
		out, err := g.Run(t.Context(), tensor.New(vec64(1.1)), tensor.Scalar(trips))
		require.NoError(t, err)
		require.InDelta(t, want, out[1].Sum().Item(), 1e-9, "%d trips", trips)
	}
}

// Where chooses the gradients, too, and 0 times infinity is NaN as in PyTorch, in a plan after
// fusion as call by call.
func TestGrad_whereKeepsNaN(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.Where(x.GtScalar(0), x.Log(), x.MulScalar(0)).Sum()
	}, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(t.Context(), fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	_, err = g.Apply(t.Context(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	out, err := g.Run(t.Context(), tensor.New(vec64(0, 2, -1)))
	require.NoError(t, err)
	got := data(out[1])
	require.True(t, math.IsNaN(got[0]), got)
	require.Equal(t, []float64{0.5, 0}, got[1:])
}

// A row of attention whose keys are all masked has zeros for a result, and no gradient.
func TestGrad_maskedRowOfAttention(t *testing.T) {
	mask := tensor.FromSlice([]bool{false, false, true, true}, 2, 2)
	q, k, v := tensor.New(array.FromSlice([]float64{1, 2, 3, 4}, 1, 1, 2, 2)), tensor.New(array.FromSlice([]float64{1, 0, 0, 1}, 1, 1, 2, 2)), tensor.New(array.FromSlice([]float64{5, 6, 7, 8}, 1, 1, 2, 2))
	loss, g, err := fx.ValueAndGrad(func() *tensor.Tensor {
		return tensor.ScaledDotProductAttention(q, k, v, mask).Select(2, 0).Sum()
	}, q, k, v)
	require.NoError(t, err)
	require.Zero(t, loss.Item())
	for _, x := range g {
		require.Equal(t, make([]float64, 4), data(x))
	}
}
