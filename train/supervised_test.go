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

// normed has what differs between the modes.
type normed struct {
	Fc1  *nn.Linear
	Bn   *nn.BatchNorm1d
	Drop *nn.Dropout
	Fc2  *nn.Linear
}

func newNormed() *normed {
	return &normed{nn.NewLinear(3, 8, nn.Seed(1)), nn.NewBatchNorm1d(8), nn.NewDropout(0.2, nn.DropoutSeed(3)), nn.NewLinear(8, 4, nn.Seed(2))}
}

func (m *normed) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Fc2.Forward(m.Drop.Forward(m.Bn.Forward(m.Fc1.Forward(x)).Relu()))
}

func labels(n int) *array.Array {
	v := make([]uint8, n)
	for i := range v {
		v[i] = uint8(i * 3 % 4)
	}
	return array.FromSlice(v, n)
}

func traced(t *testing.T, m any) *fx.GraphModule {
	t.Helper()
	gm, err := fx.Trace(context.Background(), m, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	return gm
}

// A graph that was captured in training mode is trained as the module that it is of, and its
// evaluation has the state.
func TestSupervisedEqualsTheModule(t *testing.T) {
	ctx := context.Background()
	rule := optim.Rule{Optimiser: optim.AdamW{LR: 1e-2, WeightDecay: 0.01}}
	own := newNormed()
	step, err := train.NewStep(ctx, own, func(x, y *tensor.Tensor) *tensor.Tensor {
		return nn.NewCrossEntropyLoss().Forward(own.Forward(x), y)
	}, rule, fx.Input("x", "f32[N,3]"), fx.Input("y", "i64[N]"))
	require.NoError(t, err)

	model := newNormed()
	nn.Train(model)
	training := traced(t, model)
	nn.Eval(model)
	loss, err := nn.ParseLoss("cross_entropy")
	require.NoError(t, err)
	s := train.Supervised{Model: training, Eval: traced(t, model), Loss: loss, Metrics: []string{"accuracy"}}
	require.Equal(t, 4, s.Classes())
	data, target, err := s.Fit([]*array.Array{array.Cast(ramp(60, 20, 3), array.F64), labels(20)}, []string{"x", "labels"})
	require.NoError(t, err)
	require.Equal(t, "i64[N]", target.String())
	s.Target = target
	same, err := s.Step(ctx, rule)
	require.NoError(t, err)
	eval, err := s.Evaluation(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"loss", "accuracy"}, eval.Names())
	for range 5 {
		a, err := step.Run(ctx, data...)
		require.NoError(t, err)
		b, err := same.Run(ctx, data...)
		require.NoError(t, err)
		require.Equal(t, array.Float64At(a[0], 0), array.Float64At(b[0], 0))
	}
	step.Sync()
	same.Sync()
	trained := nn.StateDict(model)
	for i, p := range nn.StateDict(own) {
		require.Equal(t, array.Bytes(p.Tensor.Array()), array.Bytes(trained[i].Tensor.Array()), p.Name)
	}
	out, err := eval.Run(ctx, data...)
	require.NoError(t, err)
	want := nn.NewCrossEntropyLoss().Forward(own.Forward(tensor.New(data[0])), tensor.New(data[1]))
	require.InDelta(t, want.Item(), array.Float64At(out[0], 0), 1e-6)
}

// Graphs in evaluation mode say so, and are trained as they are where that is meant.
func TestSupervisedInEvaluationMode(t *testing.T) {
	ctx := context.Background()
	s := train.Supervised{Model: traced(t, newNormed()), Loss: nn.NewMSELoss(), Metrics: []string{"mae", "accuracy"}}
	data, target, err := s.Fit([]*array.Array{ramp(60, 20, 3), ramp(80, 20, 4)}, []string{"x", "y"})
	require.NoError(t, err)
	s.Target = target
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.1}}
	s.AllowEvaluation = true
	step, err := s.Step(ctx, rule)
	require.NoError(t, err)
	first, err := step.Run(ctx, data...)
	require.NoError(t, err)
	var last []*array.Array
	for range 20 {
		last, err = step.Run(ctx, data...)
		require.NoError(t, err)
	}
	require.Less(t, array.Float64At(last[0], 0), array.Float64At(first[0], 0))
}
