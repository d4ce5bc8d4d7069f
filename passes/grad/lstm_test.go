package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// scanned runs an LSTM cell over time by Scan, unrolled by a Go loop.
type scanned struct {
	Cell *nn.LSTMCell
	loop bool
}

func (m *scanned) Forward(x, h, c *tensor.Tensor) *tensor.Tensor {
	if m.loop {
		var all []*tensor.Tensor
		for i := range x.Dim(0) {
			h, c = m.Cell.Forward(x.Select(0, i), h, c)
			all = append(all, h)
		}
		return tensor.Stack(all, 0).Sin().Mean().Add(c.Mean())
	}
	last, all := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		h, c := m.Cell.Forward(slices[0], carry[0], carry[1])
		return []*tensor.Tensor{h, c}, []*tensor.Tensor{h}
	}, []*tensor.Tensor{h, c}, []*tensor.Tensor{x})
	return all[0].Sin().Mean().Add(last[1].Mean())
}

// TestLSTMByScan holds the gradients of a scanned cell to those of the unrolled loop, for
// open sizes, by all weights and inputs.
func TestLSTMByScan(t *testing.T) {
	cell := nn.NewLSTMCell(3, 4)
	module := func(loop bool, specs ...fx.Option) *graph.Module {
		gm, err := fx.Trace(ctx, &scanned{cell, loop}, specs...)
		require.NoError(t, err)
		m, err := inF64(gm.Module)
		require.NoError(t, err)
		scatter(rand.New(rand.NewPCG(5, 6)), m)
		var wrt []string
		for _, p := range m.Params() {
			wrt = append(wrt, p.Path)
		}
		require.Len(t, wrt, 4)
		g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: append(wrt, "x", "h", "c")})
		require.NoError(t, err)
		return g
	}
	open := module(false, fx.Input("x", "f32[T,N,3]"), fx.Input("h", "f32[N,4]"), fx.Input("c", "f32[N,4]"))
	require.Contains(t, open.String(), "scan")
	fixed := module(true, fx.Input("x", "f32[5,2,3]"), fx.Input("h", "f32[2,4]"), fx.Input("c", "f32[2,4]"))
	r := rand.New(rand.NewPCG(7, 8))
	in := []*array.Array{random(r, 5, 2, 3), random(r, 2, 4), random(r, 2, 4)}
	want, err := fx.NewGraphModule(fixed).RunArrays(ctx, in)
	require.NoError(t, err)
	got, err := fx.NewGraphModule(graph.Clone(open)).RunArrays(ctx, in)
	require.NoError(t, err)
	planned, err := inPlan(open, in)
	require.NoError(t, err)
	gm := fx.NewGraphModule(graph.Clone(open))
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	optimised, err := gm.RunArrays(ctx, in)
	require.NoError(t, err)
	for i := range want {
		near(t, want[i], got[i], 1e-12)
		near(t, want[i], planned[i], 1e-12)
		near(t, want[i], optimised[i], 1e-12)
	}
}
