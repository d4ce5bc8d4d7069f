package parity

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// mode is a configuration of one mode for all.
func mode(m quant.Mode) *quant.Config { return &quant.Config{Global: quant.Setting{Mode: m}} }

// folded captures a model and runs the default pipeline, as before quantisation.
func folded(t *testing.T, f any, in string) *graph.Module {
	t.Helper()
	gm := capture(t, f, fx.Input("x", in))
	_, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	return gm.Module
}

// batches are n inputs of a graph.
func batches(t *testing.T, m *graph.Module, n int) iter.Seq2[[]*array.Array, error] {
	t.Helper()
	var all [][]*array.Array
	for i := range n {
		in, err := passes.Inputs(m.Graph, nil, uint64(i+1))
		require.NoError(t, err)
		all = append(all, in)
	}
	return of(all...)
}

func of(all ...[]*array.Array) iter.Seq2[[]*array.Array, error] {
	return func(yield func([]*array.Array, error) bool) {
		for _, in := range all {
			if !yield(in, nil) {
				return
			}
		}
	}
}

// resolve plans a module for the CPU.
func resolve(t *testing.T, m *graph.Module, c *quant.Config) *quant.Plan {
	t.Helper()
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	return p
}

// decision is the part of a plan about a part of a node; its zero value for none.
func decision(p *quant.Plan, node string, part quant.Part) quant.Entry {
	for _, e := range p.Entries {
		if e.Node == node && e.Part == part {
			return e
		}
	}
	return quant.Entry{}
}

// reason is the first reason of an operator in a plan.
func reason(t *testing.T, p *quant.Plan, node string) quant.Reason {
	t.Helper()
	e := decision(p, node, quant.OperatorPart)
	require.NotEmpty(t, e.Why, "%s", p)
	return e.Why[0].Reason
}

// prepared adds observers and calibrates on three batches.
func prepared(t *testing.T, m *graph.Module, c *quant.Config) *graph.Module {
	t.Helper()
	m = graph.Clone(m)
	apply2(t, m, quant.Prepare(c, cpu.QuantBackend()))
	_, err := quant.Calibrate(context.Background(), m, batches(t, m, 3), quant.CalibrateOptions{})
	require.NoError(t, err)
	return m
}

// quantised is the quantised form of a module.
func quantised(t *testing.T, m *graph.Module, c *quant.Config) *graph.Module {
	t.Helper()
	if c.Global.Mode == quant.Static {
		m = prepared(t, m, c)
	} else {
		m = graph.Clone(m)
	}
	apply2(t, m, quant.Convert(c, cpu.QuantBackend()))
	return m
}

// signal measures the quantised form against the float one.
func signal(t *testing.T, float, q *graph.Module) tune.Decibels {
	t.Helper()
	quality, err := tune.Compare(context.Background(), float, q, batches(t, float, 2), nil)
	require.NoError(t, err)
	return quality.Total()
}

// interpreted runs a module on one batch of inputs.
func interpreted(t *testing.T, m *graph.Module, seed uint64) []*array.Array {
	t.Helper()
	in, err := passes.Inputs(m.Graph, nil, seed)
	require.NoError(t, err)
	p := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
	out, err := p.RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

// compiled runs a module as a plan of the CPU on one batch of inputs.
func compiled(t *testing.T, m *graph.Module, seed uint64) []*array.Array {
	t.Helper()
	in, err := passes.Inputs(m.Graph, nil, seed)
	require.NoError(t, err)
	exe, err := cpu.Compile(graph.Clone(m), lowering.Options{})
	require.NoError(t, err)
	out, err := exe.Run(context.Background(), in)
	require.NoError(t, err)
	return out
}

// near demands that two lists of results differ by no more than a bound.
func near(t *testing.T, want, got []*array.Array, abs float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Empty(t, passes.Differ(got[i], want[i], 0, abs), "result %d", i)
	}
}
