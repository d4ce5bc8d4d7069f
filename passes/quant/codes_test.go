package quant_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// TestExamplesOfCodes makes the mistake of every documented code of quantisation, as
// its example says, and demands that code.
func TestExamplesOfCodes(t *testing.T) {
	backend := cpu.QuantBackend()
	plain := func() *graph.Module { return parse(t, single) }
	ready := func() *graph.Module { return prepared(t, single, quant.Observer{}) }
	calibrating := func(m *graph.Module, in ...[]*array.Array) error {
		_, err := quant.Calibrate(context.Background(), m, of(in...), quant.CalibrateOptions{})
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
		quant.NotPrepared: func() error { return calibrating(plain(), rows(1, 2, 3, 4)) },
		quant.NonFinite:   func() error { return calibrating(ready(), rows(float32(nan), 2, 3, 4)) },
		quant.NoBatches:   func() error { return calibrating(ready()) },
		quant.Uncalibrated: func() error {
			_, err := passes.Run(ctx, ready(), []passes.Pass{quant.Convert(static(), backend)}, passes.Options{})
			return err
		},
	}
	mistakes[quant.NotComparable] = func() error {
		_, err := quant.Compare(ctx, plain(), parse(t, "graph net(%x: f32[4], %y: f32[4]) {\n return %x\n}\n"), of(), nil)
		return err
	}
	mistakes[quant.BudgetMissed] = func() error {
		trials, _ := trialsOf(t)
		_, err := trials.Mixed(ctx, quant.MixedOptions{Accept: func(*graph.Module) (bool, error) { return false, nil }})
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
