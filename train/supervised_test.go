package train_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/passes/quant"
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
func TestSupervised_equalsTheModule(t *testing.T) {
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
func TestSupervised_evaluationMode(t *testing.T) {
	ctx := context.Background()
	s := train.Supervised{Model: traced(t, newNormed()), Loss: nn.NewMSELoss(), Metrics: []string{"mae", "accuracy"}}
	data, target, err := s.Fit([]*array.Array{ramp(60, 20, 3), ramp(80, 20, 4)}, []string{"x", "y"})
	require.NoError(t, err)
	s.Target = target
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.1}}
	s.Options.AllowEvaluation = true
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

// Batches ahead are those of the loader, and Split loses no row.
func TestPrefetchAndSplit(t *testing.T) {
	data := []*array.Array{ramp(30, 10, 3), labels(10)}
	b, err := train.NewBatches(train.Batches{Data: data, Size: 4, Shuffle: true, Seed: 5})
	require.NoError(t, err)
	ahead := train.Prefetch(b)
	require.Equal(t, 3, ahead.Len())
	for _, at := range [][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}, {1, 1}, {1, 1}} {
		want, err := b.Batch(at[0], at[1])
		require.NoError(t, err)
		got, err := ahead.Batch(at[0], at[1])
		require.NoError(t, err)
		require.Equal(t, array.Bytes(want[0]), array.Bytes(got[0]), at)
	}
	_, err = ahead.Batch(0, 3)
	require.Error(t, err)
	_, err = ahead.Batch(0, 0)
	require.NoError(t, err)

	rest, aside, err := train.Split(data, 0.25, 1)
	require.NoError(t, err)
	require.Equal(t, []int{7, 3}, []int{rest[0].Dim(0), aside[1].Dim(0)})
	_, again, err := train.Split(data, 0.25, 1)
	require.NoError(t, err)
	require.Equal(t, array.Bytes(aside[0]), array.Bytes(again[0]))
	for _, share := range []float64{0, 1, -1, math.NaN()} {
		_, _, err := train.Split(data, share, 1)
		require.ErrorContains(t, err, "FX3104")
	}
	_, aside, err = train.Split(data, 1e-9, 1)
	require.NoError(t, err)
	require.Equal(t, 1, aside[0].Dim(0))
}

// Arrays that do not fit a model are refused by their names, all at once.
func TestSupervised_refuses(t *testing.T) {
	gm := traced(t, newNormed())
	names := []string{"input x", "target y"}
	for _, c := range []struct {
		loss nn.Loss
		x, y *array.Array
		want string
	}{
		{nn.NewMSELoss(), ramp(20, 20), ramp(80, 20, 4), "the ranks differ"},
		{nn.NewMSELoss(), ramp(80, 20, 4), ramp(80, 20, 4), "the sizes of axis 1 differ"},
		{nn.NewMSELoss(), ramp(60, 20, 3), ramp(60, 20, 3), "target y is f32[20,3], the result of the model is f32[N,4]"},
		{nn.NewMSELoss(), ramp(60, 20, 3), ramp(20, 20), "the sizes of axis 1 differ"},
		{nn.NewMSELoss(), ramp(60, 20, 3), ramp(80, 20, 2, 2), "the ranks differ"},
		{nn.NewCrossEntropyLoss(), array.FromSlice([]int64{1 << 40, 1<<24 + 1, 0}, 1, 3), labels(1), "has numbers that are none of f32"},
	} {
		_, _, err := train.Supervised{Model: gm, Loss: c.loss}.Fit([]*array.Array{c.x, c.y}, names)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "FX3104")
	}
	_, _, err := train.Supervised{Model: gm, Loss: nn.NewMSELoss()}.Fit([]*array.Array{ramp(60, 20, 3)}, names)
	require.ErrorContains(t, err, "1 arrays are given")
	for _, s := range []train.Supervised{{}, {Model: gm, Loss: nn.NewMSELoss(), Output: 1}, {Model: gm, Loss: nn.NewMSELoss(), Metrics: []string{"f1"}}, {Model: gm, Loss: nn.NewNLLLoss(), Metrics: []string{"mae"}}} {
		_, err := s.Step(context.Background(), optim.Rule{Optimiser: optim.SGD{LR: 1}})
		require.ErrorContains(t, err, "FX3109")
		_, err = s.Evaluation(context.Background())
		require.ErrorContains(t, err, "FX3109")
	}
}

// Metrics say what was found.
func TestMetrics(t *testing.T) {
	for _, c := range []struct {
		loss string
		x, y []float32
		want map[string]float64
	}{
		{"bce_with_logits", []float32{-1, 2, 3, -4}, []float32{0, 1, 0, 0}, map[string]float64{"accuracy": 0.75, "mae": 2.25}},
		{"bce", []float32{.1, .9, .6, .2}, []float32{0, 1, 0, 0}, map[string]float64{"accuracy": 0.75, "mae": .25}},
	} {
		gm, err := fx.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(1) }, fx.Input("x", "f32[N]"))
		require.NoError(t, err)
		loss, err := nn.ParseLoss(c.loss)
		require.NoError(t, err)
		s := train.Supervised{Model: gm, Loss: loss, Metrics: train.MetricNames()}
		data, target, err := s.Fit([]*array.Array{array.FromSlice(c.x, 4), array.FromSlice(c.y, 4, 1)}, []string{"x", "y"})
		require.NoError(t, err)
		s.Target = target
		eval, err := s.Evaluation(context.Background())
		require.NoError(t, err)
		out, err := eval.Run(context.Background(), data...)
		require.NoError(t, err)
		for i, name := range eval.Names()[1:] {
			require.InDelta(t, c.want[name], array.Float64At(out[i+1], 0), 1e-6, name)
		}
	}
}

// A graph is trained towards numbers.
func ExampleSupervised() {
	ctx := context.Background()
	model, err := fx.Trace(ctx, nn.NewLinear(1, 1), fx.Input("x", "f32[N,1]"))
	if err != nil {
		panic(err)
	}
	s := train.Supervised{Model: model, Loss: nn.NewMSELoss()}
	x, y := array.FromSlice([]float64{0, 1, 2, 3}, 4, 1), array.FromSlice([]float64{1, 3, 5, 7}, 4)
	data, target, err := s.Fit([]*array.Array{x, y}, []string{"x", "y"})
	if err != nil {
		panic(err)
	}
	s.Target = target
	step, err := s.Step(ctx, optim.Rule{Optimiser: optim.SGD{LR: 0.1}})
	if err != nil {
		panic(err)
	}
	batches, err := train.NewBatches(train.Batches{Data: data, Size: 4})
	if err != nil {
		panic(err)
	}
	if _, err := (&train.Trainer{Step: step, Epochs: 300}).Fit(ctx, train.Prefetch(batches), nil); err != nil {
		panic(err)
	}
	fmt.Printf("%s, 2·4+1 = %.2f\n", target, model.Call(tensor.FromSlice([]float32{4}, 1, 1))[0].Item())
	// Output: f32[N,1], 2·4+1 = 9.00
}

// A fifth of the rows is put aside.
func ExampleSplit() {
	x := array.FromSlice([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10, 1)
	training, test, err := train.Split([]*array.Array{x}, 0.2, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(training[0].Shape(), test[0].Shape())
	// Output: [8 1] [2 1]
}

// What Supervised measures besides the loss.
func ExampleMetricNames() {
	fmt.Println(train.MetricNames())
	// Output: [accuracy mae]
}

// TestSupervised_forms trains a graph in the forms of a step: values computed again give the same
// bits, and a quantised model is trained and evaluated in its place.
func TestSupervised_forms(t *testing.T) {
	ctx := context.Background()
	rule := optim.Rule{Optimiser: optim.SGD{LR: 0.05}}
	x, y := ramp(60, 20, 3), ramp(80, 20, 4)
	form := func(change func(s *train.Supervised)) (train.Supervised, []*array.Array) {
		model := newNormed()
		model.Drop.P = 0
		s := train.Supervised{Model: traced(t, model), Loss: nn.NewMSELoss(), Options: train.StepOptions{AllowEvaluation: true}}
		data, target, err := s.Fit([]*array.Array{x, y}, []string{"x", "y"})
		require.NoError(t, err)
		s.Target = target
		change(&s)
		return s, data
	}
	losses := func(s train.Supervised, data []*array.Array) (list []float64) {
		step, err := s.Step(ctx, rule)
		require.NoError(t, err)
		require.NoError(t, step.Compile(ctx, lowering.Options{Exact: true}))
		for range 4 {
			out, err := step.Run(ctx, data...)
			require.NoError(t, err)
			list = append(list, array.Float64At(out[0], 0))
		}
		step.Sync()
		return list
	}
	want := losses(form(func(*train.Supervised) {}))
	require.Less(t, want[3], want[0])
	require.Equal(t, want, losses(form(func(s *train.Supervised) { s.Options.Recompute = &fx.RecomputePolicy{} })))

	quantised, data := form(func(s *train.Supervised) {
		var err error
		s.Quantised, err = train.Quantise(ctx, s.Model, &quant.Config{Global: quant.Setting{Mode: quant.Static}}, cpu.QuantBackend(), quant.Training{Observe: 2},
			fx.Input("x", "f32[N,3]"), fx.Args(fx.Meta("f32[N,3]")))
		require.NoError(t, err)
	})
	got := losses(quantised, data)
	require.Less(t, got[3], got[0])
	require.NotEqual(t, want, got)
	eval, err := quantised.Evaluation(ctx)
	require.NoError(t, err)
	before, err := eval.Run(ctx, data...)
	require.NoError(t, err)
	converted, err := quantised.Quantised.Convert(ctx)
	require.NoError(t, err)
	out, err := converted.RunArrays(ctx, data[:1])
	require.NoError(t, err)
	require.Equal(t, array.Float64At(before[0], 0), nn.NewMSELoss().Forward(tensor.New(out[0]), tensor.New(data[1])).Item(), "evaluated as converted")

	quantised.Options.Mixed = array.BF16
	_, err = quantised.Step(ctx, rule)
	require.ErrorIs(t, err, train.BadTrainer)
	require.ErrorContains(t, err, "expected f32")
}
