package schedule_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/schedule"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/stretchr/testify/require"
)

// meeting is a hook under which the named nodes only run while all of them do: each
// waits for the others. It fails instead of standing still for ever.
func meeting(t *testing.T, names ...string) interp.Hook {
	there := map[string]chan struct{}{}
	for _, n := range names {
		there[n] = make(chan struct{})
	}
	return func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if c := there[n.Name()]; c != nil {
			close(c)
			for name, other := range there {
				select {
				case <-other:
				case <-time.After(30 * time.Second):
					return interp.Result{}, errors.New(n.Name() + " ran without " + name)
				}
			}
		}
		return next(in)
	}
}

// The interpreter runs what the schedule overlaps at the same time: nodes that wait
// for each other both come to their end, and in the order before the pass they do not.
func TestRunOverlaps(t *testing.T) {
	for file, together := range map[string][]string{
		"embedding": {"far", "bottom"}, "three": {"g", "r", "h"}, "pipeline": {"g1", "h0"},
	} {
		s := load(t, "testdata/"+file+".fx")
		in := ramp(s.m)
		want, err := (&interp.Interpreter{State: interp.NewState(s.m)}).Run(t.Context(), in...)
		require.NoError(t, err)
		_, err = passes.Run(t.Context(), s.m, []passes.Pass{schedule.Overlap(s.machine)}, passes.Options{})
		require.NoError(t, err)
		got, err := schedule.Run(t.Context(), &interp.Interpreter{State: interp.NewState(s.m), Node: meeting(t, together...)}, in...)
		require.NoError(t, err, file)
		require.Equal(t, data(want), data(got))
	}
}

func ramp(m *graph.Module) (in []*tensor.Tensor) {
	for _, n := range m.Graph.Inputs() {
		d, _ := n.Type().Dims().Known()
		in = append(in, tensor.Full(d, 0.25))
	}
	return in
}

func data(ts []*tensor.Tensor) (all [][]float32) {
	for _, t := range ts {
		all = append(all, tensor.Data[float32](t))
	}
	return all
}

// Random programs compute what the interpreter computes, state included, and wait for
// their effects.
func TestRun_computesTheSame(t *testing.T) {
	for seed := range uint64(100) {
		m, machine := random(t, rand.New(rand.NewPCG(seed, 2)))
		in := ramp(m)
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).Run(t.Context(), in...)
		require.NoError(t, err)
		_, err = passes.Run(t.Context(), m, []passes.Pass{schedule.Overlap(machine)}, passes.Options{})
		require.NoError(t, err)
		got, err := schedule.Run(t.Context(), &interp.Interpreter{State: interp.NewState(m)}, in...)
		require.NoError(t, err)
		require.Equal(t, data(want), data(got))
	}
}

const stateful = `gofx 1

graph f(%x: f32[4]) {
  %s = get_attr[s] : f32[4]
  %old = call_function[exp](%s) : f32[4]
  %set = call_function[assign](%s, %x) : f32[4]
  %s_1 = get_attr[s] : f32[4]
  %new = call_function[exp](%s_1) : f32[4]
  return (%old, %new)
}
param s : f32[4]
`

func statefulModule(t *testing.T) *graph.Module {
	m, err := graph.Parse([]byte(stateful), "s.fx")
	require.NoError(t, err)
	m.SetParam(graph.Param{Path: "s", Value: tensor.Zeros(4).Array()})
	schedule.On.Set(m.Graph.Find("old"), "gpu")
	schedule.On.Set(m.Graph.Find("new"), "gpu")
	require.NoError(t, waitsOnly(m))
	return m
}

// A write waits for the reads before it, which run elsewhere and take their time.
func TestRunStateInOrder(t *testing.T) {
	m := statefulModule(t)
	slow := func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if n.Name() == "old" {
			time.Sleep(20 * time.Millisecond)
		}
		return next(in)
	}
	got, err := schedule.Run(t.Context(), &interp.Interpreter{State: interp.NewState(m), Node: slow}, tensor.Full(4, 1.0))
	require.NoError(t, err)
	require.InDelta(t, 1, data(got)[0][0], 1e-6)
	require.InDelta(t, 2.718281, data(got)[1][0], 1e-5)
}

// An error elsewhere is the run's, with its node, even if nothing waits for it; what
// depends on it does not run.
func TestRunErrors(t *testing.T) {
	s := load(t, "testdata/three.fx")
	require.NoError(t, waitsOnly(s.m))
	ran := map[string]bool{}
	hook := func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if n.Name() == "g" {
			panic(diag.New(schedule.NoWait, "it broke"))
		}
		if n.Name() == "g2" {
			ran["g2"] = true
		}
		return next(in)
	}
	_, err := schedule.Run(t.Context(), &interp.Interpreter{State: interp.NewState(s.m), Node: hook}, ramp(s.m)...)
	require.ErrorContains(t, err, "node %g: it broke")
	require.Empty(t, ran)

	hook = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if n.Name() == "g" {
			panic("a bug")
		}
		return next(in)
	}
	require.PanicsWithValue(t, "a bug", func() {
		_, _ = schedule.Run(t.Context(), &interp.Interpreter{State: interp.NewState(s.m), Node: hook}, ramp(s.m)...)
	})
}

// A context that ends while the host waits ends the run.
func TestRunCancelled(t *testing.T) {
	s := load(t, "testdata/embedding.fx")
	require.NoError(t, waitsOnly(s.m))
	ctx, cancel := context.WithCancel(t.Context())
	hook := func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		if n.Name() == "far" {
			cancel()
		}
		return next(in)
	}
	_, err := schedule.Run(ctx, &interp.Interpreter{State: interp.NewState(s.m), Node: hook}, ramp(s.m)...)
	require.ErrorIs(t, err, context.Canceled)
}
