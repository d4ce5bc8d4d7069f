package gpu_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// breakable is a device of the tests' driver, and an executable on it.
type breakable struct {
	drv *cudatest.Driver
	m   *graph.Module
	g   gpu.Target
	x   *array.Array
}

func newBreakable(t *testing.T, text, cache string) *breakable {
	drv := cudatest.New(t)
	return &breakable{drv: drv, m: parsed(t, text), x: ramp(2, 8), g: gpu.Target{Device: run.NewDevice(drv.Device()), Cache: cache}}
}

// loses breaks the device at every call of the driver that work makes, one after the other, and
// requires one error of code Lost each time, from work and from all that is asked for after it.
func loses(t *testing.T, text string, prepare func(b *breakable) (work func() error)) {
	t.Helper()
	cache := t.TempDir()
	for at := 0; ; at++ {
		b := newBreakable(t, text, cache)
		work := prepare(b)
		b.drv.Set("lose in", at)
		err := work()
		if b.drv.Get("lost") == 0 {
			require.NoError(t, err)
			require.Positive(t, at)
			break
		}
		if err == nil { // in a call that tells nobody: the next one does
			err = work()
		}
		lost(t, err)
		lost(t, work())
		after(t, b)
		if !fxtest.IsNightly() {
			at += 6
		}
	}
}

// lost requires an error of code Lost, once.
func lost(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, gpu.Lost)
	var l diag.List
	if errors.As(err, &l) {
		require.Len(t, l, 1)
	}
}

// after requires that the processor computes what the device does not any more.
func after(t *testing.T, b *breakable) {
	t.Helper()
	rest, err := cpu.Target{}.Compile(b.m, lowering.Options{})
	require.NoError(t, err)
	got, err := rest.Run(ctx, []*array.Array{b.x})
	require.NoError(t, err)
	fxtest.Close(t, "after", interpreted(t, b.m, b.x), got)
	require.NoError(t, rest.Close())
}

const middle = `gofx 1
graph net(%x: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[fc.weight] : f32[8,8]
  %a = call_function[linear](%x, %w) : f32[N,8]
  %b = call_function[exp](%a) : f32[N,8]
  %c = call_function[linear](%b, %w) : f32[N,8]
  return %c
}
param fc.weight : f32[8,8]
`

func TestLostWhileValuesAreMade(t *testing.T) {
	loses(t, middle, func(b *breakable) func() error {
		e := compile(t, b.g, b.m)
		return func() error {
			v, err := e.Put(ctx, b.x)
			if err != nil {
				return err
			}
			defer v.Close()
			out, err := e.RunValues(ctx, []lowering.Value{v})
			if err != nil {
				return err
			}
			defer out[0].Close()
			_, err = out[0].Array(ctx)
			return err
		}
	})
}

func TestLostWhileWeightsAreCopied(t *testing.T) {
	loses(t, middle, func(b *breakable) func() error {
		e := compile(t, b.g, b.m)
		_, err := e.Run(ctx, []*array.Array{b.x})
		require.NoError(t, err)
		return func() error {
			written(b.m.Param("fc.weight").Value, 0.5)
			_, err := e.Run(ctx, []*array.Array{b.x})
			return err
		}
	})
}

// TestLostInAPart: the other target's parts, and other runs, end, too.
func TestLostInAPart(t *testing.T) {
	loses(t, middle, func(b *breakable) func() error {
		first := without{b.g, "exp"}
		e, err := lowering.Split{First: first, Rest: cpu.Target{}}.Pieces(b.m, lowering.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return func() error {
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() {
					if _, err := e.Run(ctx, []*array.Array{b.x}); err != nil && !errors.Is(err, gpu.Lost) {
						t.Error(err)
					}
				})
			}
			_, err := e.Run(ctx, []*array.Array{b.x})
			ended := make(chan struct{})
			go func() { others.Wait(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("a run does not end")
			}
			return err
		}
	})
}

// without is a target that leaves an operator to the other one.
type without struct {
	gpu.Target
	op string
}

func (w without) Supports(n *graph.Node) (bool, string) {
	if n.Op() != nil && n.Op().Name == w.op {
		return false, "not today"
	}
	return w.Target.Supports(n)
}
