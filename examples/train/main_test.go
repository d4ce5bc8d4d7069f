package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// TestNetworkLearnsDigits trains from random weights, evaluates the captured graph, and compares
// with what the model itself says.
func TestNetworkLearnsDigits(t *testing.T) {
	epochs := 20
	if testing.Short() {
		epochs = 4
	}
	model := NewNet(1)
	trainer, training, test, err := setUp(context.Background(), model, oneOptimiser, epochs, 1)
	require.NoError(t, err)
	list, err := trainer.Fit(context.Background(), training, test)
	require.NoError(t, err)
	last := list[len(list)-1].Metrics
	t.Logf("accuracy %.4f on the test images, loss %.4f", last["test_accuracy"], last["test_loss"])
	if testing.Short() {
		require.Greater(t, last["accuracy"], 0.8)
		return
	}
	require.GreaterOrEqual(t, last["test_accuracy"], 0.985)
	require.True(t, trainer.Step.Average())
	right := 0
	for i, p := range tensor.Data[int64](model.Forward(tensor.New(test.Data[0])).Argmax(1)) {
		if p == array.Int64At(test.Data[1], i) {
			right++
		}
	}
	require.InDelta(t, last["test_accuracy"]*449, right, 1)
}

// TestTrainingGoesOn stops training in the middle of an epoch and goes on with another network and
// another number of threads, which has the same losses bit for bit.
func TestTrainingGoesOn(t *testing.T) {
	fit := func(ctx context.Context, dir string, threads int, stop func(step int)) (losses []float64, weights []float32, err error) {
		model := NewNet(2)
		trainer, training, test, err := setUp(ctx, model, oneOptimiser, 2, 2)
		require.NoError(t, err)
		require.NoError(t, trainer.Step.Compile(ctx, lowering.Options{Threads: threads}))
		trainer.Checkpoints.Dir = dir
		trainer.OnBatch = func(_ context.Context, b train.Batch) error {
			losses = append(losses, b.Metrics["loss"])
			stop(b.Step)
			return nil
		}
		_, err = trainer.Fit(ctx, training, test)
		return losses, tensor.Data[float32](model.Fc.Weight), err
	}
	want, weights, err := fit(context.Background(), "", 2, func(int) {})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	first, _, err := fit(ctx, dir, 1, func(step int) {
		if step == 50 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	rest, same, err := fit(context.Background(), dir, 2, func(int) {})
	require.NoError(t, err)
	require.Equal(t, want, append(first, rest...))
	require.Equal(t, weights, same)
}

// TestTwoOptimisers trains convolutions by one rule and all else by another.
func TestTwoOptimisers(t *testing.T) {
	rule := twoOptimisers(10)
	require.IsType(t, optim.SGD{}, rule.For("conv2.weight"))
	require.IsType(t, optim.AdamW{}, rule.For("fc.weight"))
	require.Zero(t, rule.For("bn1.weight").(optim.AdamW).WeightDecay)
	trainer, training, test, err := setUp(context.Background(), NewNet(1), twoOptimisers, 2, 1)
	require.NoError(t, err)
	list, err := trainer.Fit(context.Background(), training, test)
	require.NoError(t, err)
	require.Greater(t, list[1].Metrics["accuracy"], 0.6)
	tensors := func(weight string) (n int) {
		for _, p := range trainer.Step.Graph().Params() {
			if strings.HasSuffix(p.Path, weight) {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, tensors("conv2.weight"), "itself, the average, a momentum")
	require.Equal(t, 4, tensors("fc.weight"), "itself, the average, two moments")
}

// TestHeadLearns trains the last layer of an imported network: all else stays, to the bit.
func TestHeadLearns(t *testing.T) {
	ctx := context.Background()
	before, err := importHead("../onnx/digits.onnx", 1)
	require.NoError(t, err)
	trainer, training, test, err := setUpHead(ctx, 4, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"fc.bias", "fc.weight"}, slices.Sorted(slices.Values(trainer.Step.Params())))
	for n := range trainer.Step.Graph().Graph.All() {
		require.NotContains(t, n.Name(), "conv_transpose", "no gradient goes through the convolutions")
	}
	list, err := trainer.Fit(ctx, training, test)
	require.NoError(t, err)
	require.Greater(t, list[len(list)-1].Metrics["test_accuracy"], 0.95)
	for _, p := range before.Params() {
		same := bytes.Equal(array.Bytes(p.Value), array.Bytes(trainer.Step.Graph().Param(p.Path).Value))
		require.Equal(t, !strings.HasPrefix(p.Path, "fc."), same, p.Path)
	}
}
