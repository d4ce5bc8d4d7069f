package recipes

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
)

// stored is the size of the parameters.
func stored(gm *fx.GraphModule) (bytes int) {
	for _, p := range gm.Module.Params() {
		bytes += p.Value.Len() * p.Value.DType().Size()
	}
	return bytes
}

func TestQuantiseWeights(t *testing.T) {
	var g op.Gen
	net := newMLP(64, 96)
	net.Up.Weight.Select(0, 3).MulScalarInPlace(0) // a feature without a scale
	gm := capture(t, net, fx.Input("x", "f32[N,64]"))
	before := stored(gm)
	require.Equal(t, 2, apply(t, gm, QuantiseWeights).Matches("quantise-weights"))
	tidy, err := fx.Pipeline("const-fold,dce,drop-unused")
	require.NoError(t, err)
	_, err = gm.Apply(ctx, tidy, fx.PassOptions{})
	require.NoError(t, err)
	require.Less(t, float64(stored(gm)), 0.28*float64(before))

	// Each weight is at most half a scale off, so that the network is that of weights which
	// are made by hand, and near to the one before.
	rounded := newMLP(64, 96)
	for name, l := range map[string][2]*nn.Linear{"up": {net.Up, rounded.Up}, "down": {net.Down, rounded.Down}} {
		l[1].Bias = l[0].Bias
		out, in := l[0].Weight.Dim(0), l[0].Weight.Dim(1)
		w, q := tensor.Data[float32](l[0].Weight), make([]float32, out*in)
		scale := array.Data[float32](gm.Module.Param(name + ".weight_scale").Value)
		for i := range w {
			s := scale[i/in]
			largest := slices.MaxFunc(w[i/in*in:(i/in+1)*in], func(a, b float32) int { return cmp.Compare(math.Abs(float64(a)), math.Abs(float64(b))) })
			require.InEpsilon(t, max(math.Abs(float64(largest))/127, math.SmallestNonzeroFloat32), float64(s), 1e-6, "all 255 numbers are used")
			q[i] = float32(math.RoundToEven(float64(w[i]/s))) * s
			require.LessOrEqual(t, math.Abs(float64(w[i]-q[i])), 0.5001*float64(s))
		}
		l[1].Weight = tensor.FromSlice(q, out, in)
	}
	x := normal(&g, 5, 64)
	same(t, gm, rounded.Forward(x), 1e-6, x)
	same(t, gm, net.Forward(x), 0.02, x)
}

// tied uses one weight twice.
type tied struct{ Fc *nn.Linear }

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc.Forward(m.Fc.Forward(x).Tanh())
}

func TestQuantiseSharedWeights(t *testing.T) {
	var g op.Gen
	net := &tied{nn.NewLinear(8, 8)}
	gm := capture(t, net, fx.Input("x", "f32[N,8]"))
	require.Equal(t, 1, apply(t, gm, QuantiseWeights).Matches("quantise-weights"))
	require.Len(t, slices.Collect(gm.Graph.Calls(std.Dequantize)), 1)
	x := normal(&g, 2, 8)
	same(t, gm, net.Forward(x), 0.02, x)

	bad := &tied{nn.NewLinear(8, 8)}
	tensor.Data[float32](bad.Fc.Weight)[5] = float32(math.Inf(1))
	report := apply(t, capture(t, bad, fx.Input("x", "f32[N,8]")), QuantiseWeights)
	require.Contains(t, report.Explain(), "not all of its weights are finite")
	wide := capture(t, func(x, w *tensor.Tensor) *tensor.Tensor { return x.Linear(w, nil) }, fx.Input("x", "f32[N,8]"), fx.Input("w", "f32[8,8]"))
	require.Contains(t, apply(t, wide, QuantiseWeights).Explain(), "is computed, expected a parameter")
}
