package fx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// Sizes that follow from data are known at once alone; what is not reached for that reason is
// no mistake besides.
func TestGrad_sizesOfData(t *testing.T) {
	list := refusedGrad(t, func(x *tensor.Tensor) *tensor.Tensor {
		i := x.GtScalar(0).Nonzero().Reshape(-1)
		return tensor.Grad(x.IndexSelect(i, 0).Square().Sum(), x)[0]
	})
	require.Len(t, list, 1, "%v", list)
	require.Equal(t, op.NoGradient, list[0].Code)
}

// An open batch: the gradient is that of any size.
func TestGrad_openSizes(t *testing.T) {
	l := nn.NewLinear(2, 3)
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) pair {
		h := l.Forward(x).Reshape(x.Size(0), 3).Softmax(-1)
		return tensor.Grad(h.Square().Sum(), x, l.Weight)
	}, fx.Input("x", "f32[N,2]"), fx.Root(&struct{ L *nn.Linear }{l}))
	require.NoError(t, err)
	require.Equal(t, "f32[N,2]", gm.Graph.Output().Arg(0).Type().String())
	for _, n := range []int{1, 4} {
		out, err := gm.Run(t.Context(), tensor.Ones(n, 2))
		require.NoError(t, err)
		require.Equal(t, []int{n, 2}, out[0].Shape())
		_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return l.Forward(tensor.Ones(n, 2)).Softmax(-1).Square().Sum() }, l.Weight)
		require.NoError(t, err)
		require.InDelta(t, 0, grads[0].Sub(out[1]).Abs().Max().Item(), 1e-5)
	}
}

// A captured step is saved, differentiated and generated as any graph; its gradient is that
// of a function whose graph holds a gradient.
func TestGrad_isDifferentiatedAsAGraph(t *testing.T) {
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.Grad(x.PowScalar(3).Sum(), x)[0].Square().Sum()
	}, fx.Input("x", "f64[3]"))
	require.NoError(t, err)
	g, err := gm.Gradient(t.Context(), fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	out := both(t, g, 1, 2, -1)
	require.InDeltaSlice(t, []float64{36, 288, -36}, out[0], 1e-9) // (9x⁴)' = 36x³
}

// Values from before the function, views of them, and what Go code writes to them.
func TestValueAndGrad_ofValuesFromBefore(t *testing.T) {
	w := tensor.Param(vec64(1, 2, 3))
	x := tensor.New(vec64(1, 1, 2))
	turned := w.Flip(0) // a recipe of a parameter
	_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return w.Mul(turned).Mul(x).Sum() }, w)
	require.NoError(t, err)
	got := data(grads[0])
	constant, whole := []float64{3, 2, 2}, []float64{3 + 6, 2 + 2, 2 + 1}
	require.Contains(t, [][]float64{constant, whole}, got)
	row := x.Select(0, 2)
	_, grads, err = fx.ValueAndGrad(func() *tensor.Tensor {
		tensor.Data[float64](x)[2] = 7 // by Go, before its first use
		return w.Mul(x).Sum().Mul(row)
	}, w)
	require.NoError(t, err)
	require.Equal(t, []float64{7, 7, 49}, data(grads[0]))
}

// What is written to a parameter in the function is written once, and the gradient is by
// the value that it has in the end or, before the write, refused.
func TestValueAndGrad_writesToTheTensors(t *testing.T) {
	w := tensor.Param(vec64(1, 2, 3))
	_, _, err := fx.ValueAndGrad(func() *tensor.Tensor {
		loss := w.Square().Sum()
		w.MulScalarInPlace(2)
		return loss
	}, w)
	require.ErrorIs(t, err, grad.Unreached)
	require.Equal(t, []float64{1, 2, 3}, data(w), "nothing is written then")
	_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor {
		w.MulScalarInPlace(2)
		return w.Square().Sum()
	}, w)
	require.NoError(t, err)
	require.Equal(t, []float64{2, 4, 6}, data(w))
	require.Equal(t, []float64{4, 8, 12}, data(grads[0]))
}

// Two functions that run one after the other share what they keep.
func TestValueAndGrad_keepsStateFromCallToCall(t *testing.T) {
	w := tensor.Param(array.Scalar(2.))
	h := tensor.Scalar(1.)
	for i := range 3 {
		_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { h = h.Mul(w); return h.Square() }, w)
		require.NoError(t, err)
		require.Equal(t, 2*h.Item()*h.Item()/2, grads[0].Item(), "by this step alone, %d", i)
	}
	require.Equal(t, 8., h.Item())
}

// A panic with a value of the user's own, and one of an operator in a goroutine's stead.
func TestValueAndGrad_panics(t *testing.T) {
	w := tensor.New(vec64(1, 2, 3))
	_, _, err := fx.ValueAndGrad(func() *tensor.Tensor { var l []int; return w.MulScalar(l[1]) }, w)
	var list diag.List
	require.ErrorAs(t, err, &list)
	require.Contains(t, list[0].Pos.File, "grad_break_test.go")
	w.AddScalarInPlace(1)
	require.Equal(t, []float64{2, 3, 4}, data(w))
	_, _, err = fx.ValueAndGrad(nil, w)
	require.Error(t, err)
	_, _, err = fx.ValueAndGrad(func() *tensor.Tensor { return w.Sum() })
	require.Error(t, err)
}
