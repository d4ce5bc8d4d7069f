package conform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// TestCases runs the models of package cases in the engines that need no
// compiler; TestGenerated runs them in the others.
func TestCases(t *testing.T) {
	for i, c := range cases.Everything() {
		t.Run(c.Name, func(t *testing.T) {
			// Buffers are written: every engine begins with a model of its own.
			module := func() *graph.Module {
				m, err := cases.Everything()[i].Module(ctx)
				require.NoError(t, err)
				return m
			}
			interp := fx.NewGraphModule(module())
			text := fx.NewGraphModule(reparse(t, module()))
			e, err := cpu.Compile(module(), lowering.Options{Exact: true})
			code := refusal(c, Plan)
			if code != "" {
				refused(t, c.Name, code, err)
			} else {
				require.NoError(t, err)
			}
			other, err := cpu.Compile(module(), lowering.Options{})
			require.Equal(t, code == "", err == nil)
			for _, in := range c.Inputs {
				inputs := arrays(in)
				want := clones(arrays(c.Eager(in)))
				interpreted(t, "interp", interp, want, inputs)
				interpreted(t, "text", text, want, inputs)
				if code == "" {
					got, err := e.Run(ctx, inputs)
					require.NoError(t, err)
					fxtest.Same(t, "plan", want, got)
					got, err = other.Run(ctx, inputs)
					require.NoError(t, err)
					fxtest.Close(t, "plan", want, got)
				}
			}
		})
	}
}

// TestBodiesAreTracedAgain runs graphs whose bodies write state as part of a traced
// program, which makes results of the written values.
func TestBodiesAreTracedAgain(t *testing.T) {
	for _, c := range cases.Bodies() {
		m, err := c.Module(ctx)
		require.NoError(t, err)
		gm, err := fx.Trace(ctx, fx.NewGraphModule(m), fx.Input("x", "f32[2,2]"))
		if c.Refused != "" {
			refused(t, c.Name, c.Refused, err)
			continue
		}
		require.NoError(t, err, c.Name)
		for _, in := range c.Inputs {
			interpreted(t, c.Name, gm, clones(arrays(c.Eager(in))), arrays(in))
		}
	}
}

// clones copies results, since later runs write to them.
func clones(in []*array.Array) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		out[i] = array.Clone(a)
	}
	return out
}
