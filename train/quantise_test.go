package train_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// residual has what the plan treats in different ways: norms after convolutions, a sum with an
// activation, a pool, a layer of floats at the end.
type residual struct {
	First, Second *nn.Conv2d
	Norm1, Norm2  *nn.BatchNorm2d
	Out           *nn.Linear
}

func newResidual() *residual {
	m := &residual{
		First: nn.NewConv2d(1, 8, 3, nn.Padding(1)), Norm1: nn.NewBatchNorm2d(8),
		Second: nn.NewConv2d(8, 8, 3, nn.Padding(1)), Norm2: nn.NewBatchNorm2d(8),
		Out: nn.NewLinear(8, 4),
	}
	nn.ResetParameters(m, 3)
	return m
}

func (m *residual) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Norm1.Forward(m.First.Forward(x)).Relu()
	y := m.Norm2.Forward(m.Second.Forward(x)).Add(x).Relu()
	return m.Out.Forward(y.MeanWith(tensor.Ints(2, 3), tensor.ReduceAttrs{}))
}

func normal(r *rand.Rand, shape ...int) *array.Array {
	a := array.New(array.F32, shape...)
	for i := range array.Data[float32](a) {
		array.Data[float32](a)[i] = float32(r.NormFloat64())
	}
	return a
}

var static = &quant.Config{Global: quant.Setting{Mode: quant.Static}}

func TestQuantisedAgreesWithItsConversion(t *testing.T) {
	ctx := context.Background()
	m := newResidual()
	r := rand.New(rand.NewPCG(1, 2))
	q, err := train.Quantise(ctx, m, static, cpu.QuantBackend(), quant.Training{Observe: 4, Freeze: 6}, fx.Input("x", "f32[N,1,6,6]"))
	require.NoError(t, err)
	loss := func(x, y *tensor.Tensor) *tensor.Tensor { return nn.NewCrossEntropyLoss().Forward(q.Forward(x), y) }
	step, err := train.NewStep(ctx, q, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.05}}, fx.Input("x", "f32[N,1,6,6]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)
	for range 10 {
		y := array.New(array.I64, 8)
		for i := range 8 {
			array.Data[int64](y)[i] = int64(r.IntN(4))
		}
		out, err := step.Run(ctx, normal(r, 8, 1, 6, 6), y)
		require.NoError(t, err)
		t.Log(array.Float64At(out[0], 0))
	}
	step.Sync()
	x := normal(r, 5, 1, 6, 6)
	want, err := q.Evaluated().RunArrays(ctx, []*array.Array{x})
	require.NoError(t, err)
	gm, err := q.Convert(ctx)
	require.NoError(t, err)
	t.Log(gm.Graph)
	got, err := gm.RunArrays(ctx, []*array.Array{x})
	require.NoError(t, err)
	require.Equal(t, array.Bytes(want[0]), array.Bytes(got[0]))
}
