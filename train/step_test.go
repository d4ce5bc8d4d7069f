package train_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

var ctx = context.Background()

// product is w2·w1·x.
type product struct{ W1, W2 *tensor.Tensor }

func newProduct() *product {
	return &product{tensor.Param(array.Scalar[float32](2)), tensor.Param(array.Scalar[float32](3))}
}

func (m *product) Forward(x *tensor.Tensor) *tensor.Tensor { return m.W2.Mul(m.W1).Mul(x) }

// Both updates see what was before the step.
func TestStep_updatesSeeOldValues(t *testing.T) {
	for _, planned := range []bool{false, true} {
		m := newProduct()
		step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, fx.Input("x", "f32[]"))
		require.NoError(t, err)
		x := array.Scalar[float32](1)
		if planned {
			out, err := step.Run(ctx, x)
			require.NoError(t, err)
			require.EqualValues(t, 6, array.Data[float32](out[0])[0])
			step.Sync()
		} else {
			_, err := step.Graph().RunArrays(ctx, []*array.Array{x})
			require.NoError(t, err)
		}
		require.InDelta(t, 1.7, m.W1.Item(), 1e-6)
		require.InDelta(t, 2.8, m.W2.Item(), 1e-6)
	}
}

type convNet struct {
	Conv *nn.Conv2d
	Bn   *nn.BatchNorm2d
	Drop *nn.Dropout
	Fc   *nn.Linear
}

func newConvNet() *convNet {
	return &convNet{
		nn.NewConv2d(1, 4, 3, nn.Padding(1), nn.NoBias(), nn.Seed(1)), nn.NewBatchNorm2d(4),
		nn.NewDropout(0.2, nn.DropoutSeed(3)), nn.NewLinear(4, 3, nn.Seed(2)),
	}
}

func (m *convNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Bn.Forward(m.Conv.Forward(x)).Relu()
	return m.Fc.Forward(m.Drop.Forward(x.Mean(2, 3)))
}

func (m *convNet) loss(x, y *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
	logits := m.Forward(x)
	return nn.NewCrossEntropyLoss().Forward(logits, y), train.Metrics{"accuracy": logits.Argmax(1).Eq(y).Cast(array.F32).Mean()}
}

func TestStep_convNet(t *testing.T) {
	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.AdamW{LR: 1e-2, WeightDecay: 0.01}, ClipNorm: 1, Average: 0.9}, fx.Input("x", "f32[N,1,6,6]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)
	x, y := array.New(array.F32, 5, 1, 6, 6), array.FromSlice([]int64{0, 1, 2, 1, 0}, 5)
	for i := range array.Data[float32](x) {
		array.Data[float32](x)[i] = float32(i%7) / 7
	}
	var list []float64
	for range 40 {
		out, err := step.Run(ctx, x, y)
		require.NoError(t, err)
		list = append(list, array.Float64At(out[0], 0))
	}
	require.Less(t, list[39], list[0]-0.1, "%v", list)
}
