package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/quant"
)

// trainingImages yields the images that are not in the test split, 64 a batch.
func trainingImages(t *testing.T) func(yield func([]*array.Array, error) bool) {
	px, err := npy.ReadFile("images.npy")
	require.NoError(t, err)
	var images []float32
	for i, p := range array.Data[uint8](px) {
		if i/64%4 != 3 {
			images = append(images, float32(p)/16)
		}
	}
	return func(yield func([]*array.Array, error) bool) {
		for i := 0; i+64*64 <= len(images); i += 64 * 64 {
			if !yield([]*array.Array{array.FromSlice(images[i:i+64*64], 64, 1, 8, 8)}, nil) {
				return
			}
		}
	}
}

// TestQuantisedAccuracy quantises the network in every mode and counts the digits of
// the test split that are right; float gets 447.
func TestQuantisedAccuracy(t *testing.T) {
	ctx := context.Background()
	images, labels, err := testSplit()
	require.NoError(t, err)
	x := array.FromSlice(images, len(labels), 1, 8, 8)
	four := quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: 32}
	for name, c := range map[string]struct {
		config quant.Config
		least  int
	}{
		"static, histogram":  {quant.Config{Global: quant.Setting{Mode: quant.Static}}, 445},
		"static, min_max":    {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}, 445},
		"static, entropy":    {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Entropy}}}}, 445},
		"static, percentile": {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Percentile}}}}, 445},
		"static, i8":         {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{DType: array.I8, Symmetry: quant.Symmetric}}}, 445},
		"dynamic":            {quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}, 445},
		"weights":            {quant.Config{Global: quant.Setting{Mode: quant.WeightOnly}}, 445},
		"weights, 4 bits":    {quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: four}}, 440},
	} {
		m := NewNet()
		require.NoError(t, nn.LoadFile(m, "digits.safetensors"))
		gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,1,8,8]"))
		require.NoError(t, err)
		backend := cpu.QuantBackend()
		apply := func(list ...fx.Pass) {
			t.Helper()
			_, err := gm.Apply(ctx, list, fx.PassOptions{})
			require.NoError(t, err)
		}
		apply(fx.Optimise()...)
		if c.config.Global.Mode == quant.Static {
			apply(quant.Prepare(&c.config, backend))
			n, err := quant.Calibrate(ctx, gm.Module, trainingImages(t), quant.CalibrateOptions{})
			require.NoError(t, err)
			require.Equal(t, 21, n)
		}
		apply(quant.Convert(&c.config, backend))
		reference, err := gm.RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
		apply(quant.Lower)
		interpreted, err := gm.RunArrays(ctx, []*array.Array{x})
		require.NoError(t, err)
		exe, err := cpu.Compile(gm.Module, lowering.Options{})
		require.NoError(t, err)
		planned, err := exe.Run(ctx, []*array.Array{x})
		require.NoError(t, err)

		count := func(out []*array.Array) (right int) {
			for i, p := range argmax(array.Data[float32](array.Contiguous(out[0])), 10) {
				if p == labels[i] {
					right++
				}
			}
			return right
		}
		t.Logf("%s: %d, lowered %d, planned %d of %d", name, count(reference), count(interpreted), count(planned), len(labels))
		require.GreaterOrEqual(t, count(reference), c.least, name)
		require.GreaterOrEqual(t, count(planned), c.least, name)
		require.Equal(t, argmax(array.Data[float32](interpreted[0]), 10), argmax(array.Data[float32](planned[0]), 10), "%s: predictions of the interpreter and of the plan", name)
	}
}
