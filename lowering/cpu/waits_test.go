package cpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// TestRunsThatWaitForStateEndWithTheirContext: runs of a plan that writes follow one another.
func TestRunsThatWaitForStateEndWithTheirContext(t *testing.T) {
	begin := func() {}
	f := op.NewAdHoc("example.com/net", "begin", op.Args("x"), false, false, func(in []*array.Array) ([]*array.Array, error) {
		begin()
		return in, nil
	})
	g := graph.New("stateful")
	m := graph.NewModule(g)
	m.SetParam(graph.Param{Path: "s", Value: array.FromSlice([]float32{1, 2}), Buffer: true})
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	y := c.Function(f, nil, x)
	y.SetType(x.Type())
	s := c.GetAttr("s")
	s.SetType(x.Type())
	w := c.Function(op.Assign, nil, s, c.Function(std.Add, nil, s, y))
	c.Output(nil, w)
	e := compile(t, m, lowering.Options{})
	require.True(t, e.Plan().Stateful)

	in, out := []*array.Array{array.FromSlice([]float32{1, 1})}, []*array.Array{array.New(array.F32, 2)}
	run := func(ctx context.Context) error {
		_, err := e.Run(ctx, in)
		return err
	}
	writes := 0
	for _, second := range []func(ctx context.Context) error{
		run,
		func(ctx context.Context) error { return e.RunInto(ctx, out, in) },
		func(ctx context.Context) error { _, err := e.Profile(ctx, in, 1); return err },
	} {
		fxtest.StopsWaiting(t, func() bool { return e.Waiting() == 1 }, func(hold func()) error {
			begin = hold
			return run(context.Background())
		}, second)
		begin = func() {}
		writes++
		require.Equal(t, []float32{float32(1 + writes), float32(2 + writes)}, array.Data[float32](e.State("s")), "what was stopped wrote nothing")
	}
	require.NoError(t, run(context.Background()))
}

// TestRunsThatWaitForPackingEndWithTheirContext: those that begin when a weight was written wait for who packs it.
func TestRunsThatWaitForPackingEndWithTheirContext(t *testing.T) {
	m := module(t, layer)
	e := compile(t, m, lowering.Options{})
	var g op.Gen
	x := g.Normal(3, 4)
	m.Param("w").Value.Storage().Bump()
	fxtest.StopsWaiting(t, func() bool { return e.Waiting() == 1 }, e.Packing, func(ctx context.Context) error {
		_, err := e.Run(ctx, []*array.Array{x})
		return err
	})
	out, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	near(t, "", interpret(t, m, x), out)
	require.Equal(t, 1, e.Packings())
}

// TestRunsWaitForNoPlanOfTheirSizes: while one is made they take that for all sizes.
func TestRunsWaitForNoPlanOfTheirSizes(t *testing.T) {
	e := compile(t, module(t, image), lowering.Options{})
	var g op.Gen
	in := []*array.Array{g.Normal(1, 16, 12, 12)}
	first, err := e.Run(ctx, in)
	require.NoError(t, err)
	e.Specialising(func() {
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		same(t, first, out)
		require.Zero(t, e.Stats().Specialised)
	})
	out, err := e.Run(ctx, in)
	require.NoError(t, err)
	same(t, first, out)
	require.Equal(t, 1, e.Stats().Specialised)
}
