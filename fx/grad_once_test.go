package fx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

func data(x *tensor.Tensor) []float64 { return floats(x.Array()) }

// Branches and loops on data are those of Go.
func TestValueAndGrad_branchesOnData(t *testing.T) {
	w := tensor.New(vec64(1, -2, 3))
	f := func() *tensor.Tensor {
		y := w.MulScalar(2)
		if y.Select(0, 1).Item() > 0 {
			return y.Sum()
		}
		for i := 0; ; i++ { // until data say so
			if y = y.MulScalar(2); y.Square().Sum().Item() > 1000 {
				break
			}
			require.Less(t, i, 10)
		}
		return y.Square().Sum()
	}
	loss, grads, err := fx.ValueAndGrad(f, w)
	require.NoError(t, err)
	require.Equal(t, 16.*16*14, loss.Item())
	require.Equal(t, []float64{512, -1024, 1536}, data(grads[0]))
	require.Nil(t, loss.Engine())
	require.Nil(t, grads[0].Engine())
	require.Nil(t, w.Engine())
	w.AddScalarInPlace(3) // is an ordinary tensor again
	loss, grads, err = fx.ValueAndGrad(f, w)
	require.NoError(t, err)
	require.Equal(t, 22., loss.Item())
	require.Equal(t, []float64{2, 2, 2}, data(grads[0]))
	grads[0].SubInPlace(w) // is memory of its own
}

// A module's training step: statistics once, a fresh dropout key a call, the gradients of
// the captured step.
func TestValueAndGrad_ofModules(t *testing.T) {
	net := newTwoLayers()
	drop := nn.NewDropout(.5, nn.DropoutSeed(3))
	nn.Train(net)
	nn.Train(drop)
	x := tensor.FromSlice([]float32{1, 2, 3, -1, 0, 2, .5, .25, -3, 1, 1, 1}, 4, 3)
	var params []*tensor.Tensor
	for _, e := range nn.StateDict(net) {
		if !e.Buffer {
			params = append(params, e.Tensor)
		}
	}
	m := &struct {
		Net  *twoLayers
		Drop *nn.Dropout
	}{net, drop}
	var logits *tensor.Tensor
	f := func() *tensor.Tensor {
		logits = drop.Forward(net.Forward(x))
		return logits.Square().Mean()
	}
	gm, err := fx.Trace(t.Context(), func(x *tensor.Tensor) *tensor.Tensor { return drop.Forward(net.Forward(x)).Square().Mean() }, fx.Input("x", "f32[N,3]"), fx.Root(m))
	require.NoError(t, err)
	step, err := gm.ValueAndGrad(t.Context(), fx.GradOptions{})
	require.NoError(t, err)
	step = fx.NewGraphModule(graph.Clone(step.Module))
	for i := range 3 {
		want, err := step.Run(t.Context(), x)
		require.NoError(t, err)
		loss, grads, err := fx.ValueAndGrad(f, params...)
		require.NoError(t, err)
		require.Equal(t, want[0].Item(), loss.Item(), "the same keys, the same statistics")
		for k, g := range grads {
			require.InDelta(t, 0, g.Sub(want[1+k]).Abs().Max().Item(), 1e-6)
		}
		require.EqualValues(t, i+1, net.Norm.NumBatchesTracked.Item())
		require.InDelta(t, loss.Item(), logits.Square().Mean().Item(), 1e-6, "what was kept is an ordinary tensor")
	}
	require.True(t, tensor.New(step.Param("net.norm.running_mean").Value).Equal(net.Norm.RunningMean))
	require.True(t, tensor.New(step.Param("drop.state").Value).Equal(drop.State))
}

// Ten steps fit a line; parameters are written by ordinary Go between calls.
func TestValueAndGrad_trains(t *testing.T) {
	l := nn.NewLinear(1, 1)
	x, y := tensor.FromSlice([]float32{0, 1, 2, 3}, 4, 1), tensor.FromSlice([]float32{1, 3, 5, 7}, 4, 1)
	last := 0.
	for range 300 {
		loss, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return l.Forward(x).Sub(y).Square().Mean() }, l.Weight, l.Bias)
		require.NoError(t, err)
		l.Weight.SubInPlace(grads[0].MulScalar(.1))
		l.Bias.SubInPlace(grads[1].MulScalar(.1))
		last = loss.Item()
	}
	require.Less(t, last, 1e-6)
	require.InDelta(t, 2, l.Weight.Item(), 1e-3)
}

// Writes, views, control flow, sizes that follow from data, Grad inside.
func TestValueAndGrad_programs(t *testing.T) {
	x := tensor.New(vec64(1, -2, 3))
	frozen := tensor.New(vec64(2, 2, 2))
	buffer := tensor.New(vec64(0, 0, 0))
	for name, c := range map[string]struct {
		f    func() *tensor.Tensor
		want []float64
	}{
		"write through a view": {func() *tensor.Tensor {
			y := x.MulScalar(2)
			y.Select(0, 1).MulInPlace(y.Select(0, 0))
			return y.Sum()
		}, []float64{2 - 8, 4, 2}},
		"cond": {func() *tensor.Tensor {
			return tensor.Cond(x.Sum().GtScalar(0), func(in pair) pair { return pair{in[0].Square().Sum()} }, func(in pair) pair { return pair{in[0].Sum()} }, x)[0]
		}, []float64{2, -4, 6}},
		"while": {func() *tensor.Tensor {
			return tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(10) }, func(in []*tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{in[0].MulScalar(2)}
			}, x)[0].Sum()
		}, []float64{8, 8, 8}},
		"scan": {func() *tensor.Tensor {
			last, _ := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
				return []*tensor.Tensor{carry[0].Mul(slices[0])}, nil
			}, []*tensor.Tensor{tensor.Scalar(1.)}, []*tensor.Tensor{x})
			return last[0]
		}, []float64{-6, 3, -2}},
		"sizes of data": {func() *tensor.Tensor {
			i := x.GtScalar(0).Nonzero().Reshape(-1)
			require.Equal(t, 2, i.Dim(0))
			return x.IndexSelect(i, 0).Square().Sum()
		}, []float64{2, 0, 6}},
		"grad inside": {func() *tensor.Tensor {
			g := tensor.Grad(x.PowScalar(3).Sum(), x)[0]
			if g.Select(0, 0).Item() != 3 {
				t.Error("wrong gradient")
			}
			return g.Sum()
		}, []float64{6, -12, 18}},
		"constants": {func() *tensor.Tensor {
			k := frozen.MulScalar(3) // at once
			return x.Mul(k).Sum()
		}, []float64{6, 6, 6}},
		"buffers": {func() *tensor.Tensor {
			buffer.AddInPlace(x)
			return buffer.Mul(x).Sum()
		}, []float64{2, -4, 6}},
		"module of a trace": {func() *tensor.Tensor {
			gm, err := fx.Trace(t.Context(), func(y *tensor.Tensor) *tensor.Tensor { return y.Square() }, fx.Input("y", "f64[3]"))
			require.NoError(t, err)
			return gm.Forward(x).Sum()
		}, []float64{2, -4, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			_, grads, err := fx.ValueAndGrad(c.f, x)
			require.NoError(t, err)
			require.InDeltaSlice(t, c.want, data(grads[0]), 1e-12)
			require.Equal(t, []float64{1, -2, 3}, data(x))
			require.Nil(t, x.Engine())
		})
	}
	require.Equal(t, []float64{1, -2, 3}, data(buffer), "it was written once")
	require.Nil(t, buffer.Engine())
}

func TestValueAndGrad_refusals(t *testing.T) {
	x, y := tensor.New(vec64(1, -2, 3)), tensor.New(vec64(1))
	n := tensor.FromSlice([]int64{1, 2, 3})
	buffer := tensor.New(vec64(0, 0, 0))
	for name, c := range map[string]struct {
		code diag.Code
		f    func() *tensor.Tensor
		by   []*tensor.Tensor
	}{
		"not depending":      {grad.Unreached, func() *tensor.Tensor { return x.Sum() }, []*tensor.Tensor{x, y}},
		"computed elsewhere": {grad.Unreached, func() *tensor.Tensor { return buffer.Sum() }, []*tensor.Tensor{x}},
		"integers":           {grad.NotFloat, func() *tensor.Tensor { return x.Sum() }, []*tensor.Tensor{x, n}},
		"no scalar":          {grad.NotScalar, func() *tensor.Tensor { buffer.AddInPlace(x); return x.Square() }, []*tensor.Tensor{x}},
		"nil loss":           {tensor.NilTensor, func() *tensor.Tensor { return nil }, []*tensor.Tensor{x}},
		"nil tensor":         {tensor.NilTensor, func() *tensor.Tensor { return x.Sum() }, []*tensor.Tensor{nil}},
		"panic":              {"FX1007", func() *tensor.Tensor { panic("user") }, []*tensor.Tensor{x}},
		"wrong call":         {"FX2001", func() *tensor.Tensor { return x.Add(tensor.New(vec64(1, 2))).Sum() }, []*tensor.Tensor{x}},
		"wrong, read":        {"FX2001", func() *tensor.Tensor { x.Add(tensor.New(vec64(1, 2))).Sum().Item(); return x.Sum() }, []*tensor.Tensor{x}},
		"index":              {"FX2030", func() *tensor.Tensor { return x.IndexSelect(tensor.FromSlice([]int64{7}), 0).Sum() }, []*tensor.Tensor{x}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := fx.ValueAndGrad(c.f, c.by...)
			var list diag.List
			list.Add(err)
			require.Equal(t, c.code, list[0].Code, "%v", err)
			require.Contains(t, list[0].Pos.File, "grad_once_test.go", "%v", err)
			require.Nil(t, x.Engine())
			require.Equal(t, []float64{0, 0, 0}, data(buffer))
		})
	}
	_, _, err := fx.ValueAndGrad(func() *tensor.Tensor {
		_, _, err := fx.ValueAndGrad(func() *tensor.Tensor { return x.Sum() }, x)
		require.ErrorIs(t, err, tensor.MixedEngines)
		return x.Sum()
	}, x, x)
	require.NoError(t, err)
}
