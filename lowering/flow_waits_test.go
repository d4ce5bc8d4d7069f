package lowering_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
)

// stopping is a target whose runs begin with a call of a function.
type stopping struct {
	picky
	begin *func()
}

type stoppingExecutable struct {
	lowering.Executable
	begin *func()
}

func (s stopping) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := s.picky.Compile(m, o)
	return stoppingExecutable{e, s.begin}, err
}

func (e stoppingExecutable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	(*e.begin)()
	return e.Executable.Run(ctx, in)
}

// TestRunsThatWaitForStateEndWithTheirContext: runs of a graph that writes follow one another.
func TestRunsThatWaitForStateEndWithTheirContext(t *testing.T) {
	m := parse(t, `
graph net(%x: f32[2]) {
  %s = get_attr[s] : f32[2]
  %y = call_function[exp](%x) : f32[2]
  %n = call_function[add](%s, %y) : f32[2]
  %w = call_function[assign](%s, %n) : f32[2]
  return %w
}
param s : f32[2]
`)
	p := *m.Param("s")
	p.Value = array.FromSlice([]float32{1, 2})
	m.SetParam(p)
	begin := func() {}
	e := pieces(t, m, stopping{only("exp"), &begin}, lowering.Options{})
	zero := []*array.Array{array.New(array.F32, 2)}
	run := func(ctx context.Context) error {
		_, err := e.Run(ctx, zero)
		return err
	}
	fxtest.StopsWaiting(t, func() bool { return e.Waiting() == 1 }, func(hold func()) error {
		begin = hold
		return run(context.Background())
	}, run)
	begin = func() {}
	require.NoError(t, run(context.Background()))
	require.Equal(t, []float32{3, 4}, array.Data[float32](e.State("s")), "the run that was stopped wrote nothing")
	require.NoError(t, e.Close(), "no run is left")
}
