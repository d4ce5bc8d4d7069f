package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/train"
)

// TestQuantisedNetworkLearnsDigits trains in floats, then for the quantisation, and counts what the
// integer operators of the converted network get right.
func TestQuantisedNetworkLearnsDigits(t *testing.T) {
	seeds, epochs := []uint64{1, 2, 3}, 20
	if testing.Short() {
		seeds, epochs = seeds[:1], 4
	}
	ctx := context.Background()
	lost := map[string]float64{} // over all seeds: one image of the 449 is .22 points of one seed
	for _, seed := range seeds {
		model := NewNet(seed)
		trainer, training, test, err := setUp(ctx, model, oneOptimiser, epochs, seed)
		require.NoError(t, err)
		list, err := trainer.Fit(ctx, training, test)
		require.NoError(t, err)
		require.True(t, trainer.Step.Average())
		float := list[len(list)-1].Metrics["test_accuracy"]
		for _, form := range []struct {
			name   string
			config *quant.Config
		}{{"int8", int8}, {"int4", int4}} {
			began := time.Now()
			gm, fake, err := quantised(ctx, copyOf(t, model), form.config, training, test, 4)
			require.NoError(t, err)
			got := accuracy(t, gm, test)
			t.Logf("seed %d: float %.4f, %s %.4f, fake-quantised %.4f, %v", seed, float, form.name, got, fake, time.Since(began))
			lost[form.name] += (float - got) / float64(len(seeds))
			if !testing.Short() {
				require.GreaterOrEqual(t, float, 0.985)
				require.GreaterOrEqual(t, got, 0.985)
			}
		}
	}
	if !testing.Short() {
		require.LessOrEqual(t, lost["int8"], 0.003)
		require.LessOrEqual(t, lost["int4"], 0.01)
	}
}

// copyOf returns a network with the tensors of another one.
func copyOf(t *testing.T, model *Net) *Net {
	out := NewNet(0)
	from := nn.StateDict(model)
	for i, e := range nn.StateDict(out) {
		require.Equal(t, e.Name, from[i].Name)
		array.Copy(e.Tensor.Array(), from[i].Tensor.Array())
	}
	return out
}

// accuracy runs the integer form of a graph on the test images.
func accuracy(t *testing.T, gm *fx.GraphModule, test *train.Batches) float64 {
	ctx := context.Background()
	_, err := gm.Apply(ctx, []fx.Pass{integer.Lower}, fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	out, err := exe.Run(ctx, test.Data[:1])
	require.NoError(t, err)
	right, n := 0, test.Data[1].Len()
	for i := range n {
		best := 0
		for k := range 10 {
			if array.Float64At(out[0], 10*i+k) > array.Float64At(out[0], 10*i+best) {
				best = k
			}
		}
		if int64(best) == array.Int64At(test.Data[1], i) {
			right++
		}
	}
	return float64(right) / float64(n)
}
