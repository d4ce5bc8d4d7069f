package quant_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// saved returns the files of a module.
func saved(t testing.TB, m *graph.Module) (dir string, files [2]string) {
	dir = t.TempDir()
	require.NoError(t, graph.Save(dir, m))
	for i, name := range []string{graph.GraphFile, graph.WeightsFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files[i] = string(b)
	}
	return dir, files
}

// TestCalibration_resumes interrupts a calibration in every way, saves, loads and
// goes on: the bytes are those of one that ran through.
func TestCalibration_resumes(t *testing.T) {
	stop := errors.New("stop")
	for _, o := range []quant.Observer{{Kind: quant.MovingAverage}, {Kind: quant.Entropy}} {
		c := quanttest.Static()
		c.Global.Activation.Observer = o
		fresh := func() *graph.Module {
			m := quanttest.Parse(t, quanttest.Residual)
			quanttest.Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
			return m
		}
		m := fresh()
		data := quanttest.Batches(t, m, 7, nil)
		n, err := quant.Calibrate(ctx, m, data, quant.CalibrateOptions{})
		require.NoError(t, err)
		require.Equal(t, 7, n)
		_, want := saved(t, m)

		for name, interrupt := range map[string]func(m *graph.Module) (int, error){
			"progress": func(m *graph.Module) (int, error) {
				return quant.Calibrate(ctx, m, data, quant.CalibrateOptions{Progress: func(n int) error {
					if n == 3 {
						return stop
					}
					return nil
				}})
			},
			"context": func(m *graph.Module) (int, error) {
				ctx, cancel := context.WithCancel(ctx)
				return quant.Calibrate(ctx, m, data, quant.CalibrateOptions{Progress: func(n int) error {
					if n == 3 {
						cancel()
					}
					return nil
				}})
			},
			"within a batch": func(m *graph.Module) (int, error) {
				ctx, cancel := context.WithCancel(ctx)
				return quant.Calibrate(ctx, m, data, quant.CalibrateOptions{Engine: &cancelling{compiled(t, m), 3, cancel}})
			},
			"data": func(m *graph.Module) (int, error) {
				return quant.Calibrate(ctx, m, func(yield func([]*array.Array, error) bool) {
					k := 0
					for in, err := range data {
						if k++; k == 4 {
							err = stop
						}
						if !yield(in, err) {
							return
						}
					}
				}, quant.CalibrateOptions{})
			},
		} {
			m := fresh()
			n, err := interrupt(m)
			require.Error(t, err, name)
			require.Equal(t, 3, n, name)
			dir, part := saved(t, m)
			require.NotEqual(t, want, part, name)
			loaded, err := graph.Load(dir)
			require.NoError(t, err)
			var seen []int
			n, err = quant.Calibrate(ctx, loaded, data, quant.CalibrateOptions{Progress: func(n int) error { seen = append(seen, n); return nil }})
			require.NoError(t, err)
			require.Equal(t, 7, n)
			require.Equal(t, []int{4, 5, 6, 7}, seen, "batches that were seen are passed over")
			_, got := saved(t, loaded)
			require.Equal(t, want, got, name)
			n, err = quant.Calibrate(ctx, loaded, data, quant.CalibrateOptions{})
			require.NoError(t, err)
			require.Equal(t, 7, n, "nothing is left to see")
		}
	}
}

// cancelling is an engine whose context ends in the middle of a run.
type cancelling struct {
	quant.Engine
	runs   int
	cancel func()
}

func (e *cancelling) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	if e.runs--; e.runs < 0 {
		if _, err := e.Engine.Run(context.WithoutCancel(ctx), in); err != nil { // its buffers change
			return nil, err
		}
		e.cancel()
	}
	return e.Engine.Run(ctx, in)
}

func compiled(t testing.TB, m *graph.Module) quant.Engine {
	e, err := cpu.Compile(m, lowering.Options{Exact: true})
	require.NoError(t, err)
	return e
}

func TestCalibrateRefuses(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	_, err := quant.Calibrate(ctx, m, quanttest.Inputs(), quant.CalibrateOptions{})
	require.ErrorIs(t, err, quant.NotPrepared)
	plain := graph.Clone(m)
	quanttest.Pipeline(t, m, quant.Prepare(quanttest.Static(), cpu.QuantBackend()))
	_, err = quant.Calibrate(ctx, m, quanttest.Inputs(), quant.CalibrateOptions{})
	require.ErrorIs(t, err, quant.NoBatches)
	_, err = quant.Calibrate(ctx, m, quanttest.Inputs([]*array.Array{array.New(array.F32, 1, 2, 8, 8)}), quant.CalibrateOptions{})
	require.ErrorContains(t, err, "x")
	e, err := cpu.Compile(plain, lowering.Options{})
	require.NoError(t, err)
	_, err = quant.Calibrate(ctx, m, quanttest.Batches(t, plain, 1, nil), quant.CalibrateOptions{Engine: e})
	require.ErrorIs(t, err, quant.NotPrepared)
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Prepare(quanttest.Static(), cpu.QuantBackend())}, passes.Options{})
	require.ErrorIs(t, err, quant.NotPrepared)
	require.ErrorContains(t, err, "observers already")
}
