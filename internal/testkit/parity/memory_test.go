package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

func init() { area("2.6", memoryRows) }

// memoryRows are about results that are written over operands: the plan decides that, a
// graph has values alone.
var memoryRows = []row{
	{id: "115a", input: "chains of 3 and of 30 elementwise calls with products between, compiled", outcome: "results lie in the memory of operands that nothing reads any more: no more memory for the long chain", on: in(cpu.Compile, (*cpu.Executable).PeakBytes), test: func(t *testing.T) {
		peak := func(n int) int64 {
			gm := capture(t, func(x tt) tt {
				for range n {
					x = x.Matmul(x).Tanh()
				}
				return x
			}, fx.Input("x", "f32[8,8]"))
			exe, err := cpu.Compile(gm.Module, lowering.Options{})
			require.NoError(t, err)
			bytes, err := exe.PeakBytes(nil)
			require.NoError(t, err)
			require.Positive(t, bytes)
			return bytes
		}
		require.Equal(t, peak(3), peak(30))
	}},
	{id: "115b", input: "an operand that is read later, through a view, as a result, and by the caller; a scatter into it; an input that is donated", outcome: "it keeps its value; a donated one may lose it", on: in(cpu.Compile), test: func(t *testing.T) {
		gm := capture(t, func(x tt) []tt {
			y := x.Exp()
			view := y.Reshape(2, 2)
			z := y.Neg()
			return []tt{z, view.Add(view.T()), y, x.Neg(), y.SelectScatter(z.Sum(), 0, 1)}
		}, fx.Input("x", "f32[4]"))
		want := interpreted(t, gm.Module, 7)
		in, err := passes.Inputs(gm.Graph, nil, 7)
		require.NoError(t, err)
		before := array.Clone(in[0])
		exe, err := cpu.Compile(gm.Module, lowering.Options{Exact: true})
		require.NoError(t, err)
		out, err := exe.Run(context.Background(), in)
		require.NoError(t, err)
		near(t, want, out, 0)
		require.True(t, array.Equal(before, in[0]))
		donated, err := cpu.Compile(gm.Module, lowering.Options{Exact: true, Donate: []int{0}})
		require.NoError(t, err)
		out, err = donated.Run(context.Background(), in)
		require.NoError(t, err)
		near(t, want, out, 0)
	}},
	{id: "115c", input: "100 random graphs, compiled", outcome: "the bits of the interpreter, in memory that is used again and again", on: in(cpu.Compile), test: func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			m := fxtest.RandomGraph(r)
			in, err := passes.Inputs(m.Graph, nil, 3)
			require.NoError(t, err)
			exe, err := cpu.Compile(m, lowering.Options{Exact: true})
			require.NoError(t, err)
			out, err := exe.Run(context.Background(), in)
			require.NoError(t, err)
			fxtest.Same(t, "compiled", interpreted(t, m, 3), out)
		})
	}},
}
