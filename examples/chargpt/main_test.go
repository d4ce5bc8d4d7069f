package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// TestGPTLearns trains for seconds, stops in the middle of it once, and draws what it reached.
func TestGPTLearns(t *testing.T) {
	steps := 100
	if testing.Short() {
		steps = 20
	}
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	var losses []float64
	fit := func(ctx context.Context) error {
		trainer, batches, err := setUp(context.Background(), NewGPT(), steps, 1)
		require.NoError(t, err)
		trainer.Checkpoints = train.Checkpoints{Dir: dir}
		trainer.OnBatch = func(_ context.Context, b train.Batch) error {
			if losses = append(losses, b.Metrics["loss"]); len(losses) == 7 {
				cancel()
			}
			return nil
		}
		_, err = trainer.Fit(ctx, train.Prefetch(batches), nil)
		return err
	}
	require.ErrorIs(t, fit(ctx), context.Canceled)
	require.NoError(t, fit(context.Background()))
	require.Len(t, losses, steps)
	require.InDelta(t, 4.6, losses[0], 0.3, "at first all characters are as likely")
	last := mean(losses[len(losses)-10:])
	t.Logf("loss %.3f after %d steps", last, steps)
	if testing.Short() {
		require.Less(t, last, 3.6)
		return
	}
	require.Less(t, last, 2.65)
	requireXML(t, curve(losses))
}

func requireXML(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
	}
}

// TestPackageWritesAsTheModel compares the generated package with the model of the same weights.
func TestPackageWritesAsTheModel(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, write(context.Background(), &b, "The ", 80, 0, 1))
	model := NewGPT()
	require.NoError(t, nn.LoadFile(model, "chars.safetensors"))
	end, err := continued(modelLogits(model), "The ", 80, 0, 1)
	require.NoError(t, err)
	require.Equal(t, "The "+end+"\n", b.String())

	// The weights are of a training that learned more than frequencies.
	batch, err := (&windows{text: text, size: 8, batches: 1, seed: 99}).Batch(0, 0)
	require.NoError(t, err)
	require.Less(t, model.Loss(tensor.New(batch[0]), tensor.New(batch[1])).Item(), 1.9)
}

// TestCharacters are numbers and back.
func TestCharacters(t *testing.T) {
	for c := byte(' '); c <= '~'; c++ {
		require.Equal(t, c, character(number(c)))
		require.Less(t, number(c), int64(symbols))
	}
	require.Equal(t, byte('\n'), character(number('\n')))
	require.Equal(t, int64(0), number(200))
	for _, c := range []byte(text) {
		require.Equal(t, c, character(number(c)))
	}
}

// TestCurveOfFewSteps draws what there is.
func TestCurveOfFewSteps(t *testing.T) {
	for _, losses := range [][]float64{nil, {1}, {5, 3}} {
		requireXML(t, curve(losses))
	}
}
