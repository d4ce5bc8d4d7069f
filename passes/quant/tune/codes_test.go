package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// TestExamplesOfCodes makes the mistake of every documented code of quantisation, as
// its example says, and demands that code.
func TestExamplesOfCodes(t *testing.T) {
	backend := cpu.QuantBackend()
	plain := func() *graph.Module { return quanttest.Parse(t, quanttest.Single) }
	ready := func() *graph.Module { return quanttest.Prepared(t, quanttest.Single, quant.Observer{}) }
	calibrating := func(m *graph.Module, in ...[]*array.Array) error {
		_, err := quant.Calibrate(context.Background(), m, quanttest.Inputs(in...), quant.CalibrateOptions{})
		return err
	}
	mistakes := map[diag.Code]func() error{
		quant.BadConfig: func() error {
			_, err := quant.ParseConfig([]byte("{\"global\": {\"modes\": \"static\"}}"), "quant.json")
			return err
		},
		quant.Refused: func() error {
			_, err := quant.Resolve(plain(), &quant.Config{Global: quant.Setting{Mode: quant.Static}, Strict: true}, &quant.Backend{Name: "bare"})
			return err
		},
		quant.NotPrepared: func() error { return calibrating(plain(), quanttest.Rows(1, 2, 3, 4)) },
		quant.NonFinite:   func() error { return calibrating(ready(), quanttest.Rows(float32(math.NaN()), 2, 3, 4)) },
		quant.NoBatches:   func() error { return calibrating(ready()) },
		quant.Uncalibrated: func() error {
			_, err := passes.Run(ctx, ready(), []passes.Pass{quant.Convert(quanttest.Static(), backend)}, passes.Options{})
			return err
		},
	}
	mistakes[tune.NotComparable] = func() error {
		_, err := tune.Compare(ctx, plain(), quanttest.Parse(t, "graph net(%x: f32[4], %y: f32[4]) {\n return %x\n}\n"), quanttest.Inputs(), nil)
		return err
	}
	mistakes[tune.BudgetMissed] = func() error {
		trials, _ := trialsOf(t)
		_, err := trials.Mixed(ctx, tune.MixedOptions{Accept: func(*graph.Module) (bool, error) { return false, nil }})
		return err
	}
	for _, info := range diag.Codes() {
		if info.Code[:3] != "FX6" {
			continue
		}
		require.Contains(t, mistakes, info.Code)
		require.ErrorIs(t, mistakes[info.Code](), info.Code)
		delete(mistakes, info.Code)
	}
	require.Empty(t, mistakes)
}
