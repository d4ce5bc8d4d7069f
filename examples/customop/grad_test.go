package customop

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// TestGradients compares the gradients of all samples with differences along a direction, in f64:
// those of snake and gated_linear follow from their meaning, that of median is medianGrad.
func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range samples(t) {
		if s.In[0].Len() == 0 || s.Name == "special values" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			var in, direction []*tensor.Tensor
			for _, a := range s.In {
				x := array.Contiguous(array.Cast(a, array.F64))
				d := array.New(array.F64, x.Shape()...)
				for i := range array.Data[float64](d) {
					array.Data[float64](d)[i] = r.NormFloat64()
				}
				in, direction = append(in, tensor.New(x)), append(direction, tensor.New(d))
			}
			loss := func(x ...*tensor.Tensor) *tensor.Tensor { return call(s.op, s.Attrs)(x...).Sin().Sum() }
			_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return loss(in...) }, in...)
			require.NoError(t, err)
			along := 0.0
			var up, down []*tensor.Tensor
			const h = 1e-6
			for i, x := range in {
				along += grads[i].Mul(direction[i]).Sum().Item()
				up, down = append(up, x.Add(direction[i].MulScalar(h))), append(down, x.Sub(direction[i].MulScalar(h)))
			}
			want := (loss(up...).Item() - loss(down...).Item()) / (2 * h)
			require.InDelta(t, want, along, 1e-5*(1+math.Abs(want)))
		})
	}
}

// TestGradientOfMedian shows where the derivatives go, and that the plan of a graph with open
// sizes computes the same.
func TestGradientOfMedian(t *testing.T) {
	x := array.FromSlice([]float32{5, 1, 4, 2, 2, 9}, 1, 6) // medians of three: 5 4 2 2 2 9
	seeds := array.FromSlice([]float32{1, 10, 100, 1000, 10000, 100000}, 1, 6)
	gm, err := fx.Trace(ctx, func(x, seeds *tensor.Tensor) *tensor.Tensor {
		return tensor.CallOp(Median, MedianAttrs{Window: 3}, x).Mul(seeds).Sum()
	}, fx.Input("x", "f32[N,S]"), fx.Input("seeds", "f32[N,S]"))
	require.NoError(t, err)
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	require.NoError(t, err)
	got, err := g.RunArrays(ctx, []*array.Array{x, seeds})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 0, 10, 11100, 0, 100000}, array.Data[float32](got[0]))
	exe, err := cpu.Compile(g.Module, lowering.Options{Exact: true})
	require.NoError(t, err)
	defer exe.Close()
	planned, err := exe.Run(ctx, []*array.Array{x, seeds})
	require.NoError(t, err)
	require.Empty(t, passes.Differ(planned[0], got[0], 0, 0))
}

// TestNetworkIsTrained trains the network, whose gradient goes through all three operators.
func TestNetworkIsTrained(t *testing.T) {
	net := NewNet()
	nn.ResetParameters(net, 1)
	loss := func(noisy, clean *tensor.Tensor) *tensor.Tensor {
		return nn.NewMSELoss().Forward(net.Forward(noisy), clean)
	}
	step, err := train.NewStep(ctx, net, loss, optim.Rule{Optimiser: optim.Adam{LR: 1e-2}}, fx.Input("noisy", "f32[N,32]"), fx.Input("clean", "f32[N,32]"))
	require.NoError(t, err)
	clean, noisy := array.New(array.F32, 16, 32), array.New(array.F32, 16, 32)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range array.Data[float32](clean) {
		v := math.Sin(float64(i%32)/4 + float64(i/32))
		array.Data[float32](clean)[i], array.Data[float32](noisy)[i] = float32(v), float32(v+0.3*r.NormFloat64())
	}
	var losses []float64
	for range 60 {
		out, err := step.Run(ctx, noisy, clean)
		require.NoError(t, err)
		losses = append(losses, array.Float64At(out[0], 0))
	}
	require.Less(t, losses[59], losses[0]/4)
}
