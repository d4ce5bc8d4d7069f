package cpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tracer"
)

func traceModel(t *testing.T, m *models.Model, module any) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range m.Inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	mod, err := p.Trace(ctx, module)
	require.NoError(t, err)
	return mod
}

// TestModelsEqualTheInterpreter runs networks as plans, as they are and after the
// default pipeline, and compares them with the interpreter; runs into arrays that are
// there allocate nothing. The large ones are in the slow tier.
func TestModelsEqualTheInterpreter(t *testing.T) {
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, model.Name)
			ref.SkipLarge(t)
			module := model.New()
			models.Synthetic(model, module, "gofx-1")
			m := traceModel(t, model, module)
			x, err := model.SyntheticInputs("gofx-1")
			require.NoError(t, err)
			in := make([]*array.Array, len(x))
			for i := range x {
				in[i] = x[i].Array()
			}
			want := interpret(t, m, in...)
			agree := func(got []*array.Array) { near(t, model.Name, want, got) }
			if model.Name == "quantized_resnet18" { // a value at a boundary of its 8 bits falls either way: the reference's bounds allow for that
				agree = func(got []*array.Array) { ref.Check(t, got) }
				got, err := compile(t, m, lowering.Options{Exact: true}).Run(ctx, in)
				require.NoError(t, err)
				same(t, want, got)
			} else {
				agrees(t, model.Name, m, want, in)
			}
			optimised := graph.Clone(m)
			_, err = passes.Run(ctx, optimised, fx.Optimise(), passes.Options{})
			require.NoError(t, err)
			for _, o := range []lowering.Options{{}, {Exact: true}} { // with Winograd and without
				out, err := compile(t, optimised, o).Run(ctx, in)
				require.NoError(t, err)
				ref.Check(t, out)
			}
			for _, threads := range []int{1, 2} {
				e := compile(t, optimised, lowering.Options{Threads: threads})
				_, err := e.Run(ctx, in)
				require.NoError(t, err)
				out, err := e.Run(ctx, in) // by a plan for these sizes, where that gains
				require.NoError(t, err)
				agree(out)
				// A goroutine that helps makes memory of its own at the first step at which others are busy, too:
				// where other programs have the processors that may be in any run, but not in every one.
				allocs := func() float64 {
					return testing.AllocsPerRun(3, func() {
						if err := e.RunInto(ctx, out, in); err != nil {
							t.Error(err)
						}
					})
				}
				for cold := 0; allocs() > 0; cold++ {
					require.Less(t, cold, 8*(threads-1), "%d threads allocate in every run", threads)
				}
				agree(out)
			}
		})
	}
}

// TestModelsArePlanned plans every network with symbolic sizes; nothing is
// computed. The arena is near the least for the sizes of the references.
func TestModelsArePlanned(t *testing.T) {
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			m := traceModel(t, model, model.New())
			require.Empty(t, lowering.Query(cpu.Target{}, m.Graph))
			for _, o := range []lowering.Options{{}, {Shapes: model.Dims}} {
				ready, err := lowering.Prepare(m, o)
				require.NoError(t, err)
				p, err := cpu.Plan(ready, o)
				require.NoError(t, err)
				var s plan.Sizes
				require.NoError(t, p.Size(&s, plan.Values(model.Dims)))
				t.Logf("%d steps, arena %d of %d, %s", len(p.Steps), s.Arena, p.Need(&s), p.Arena)
				if o.Shapes != nil {
					require.LessOrEqual(t, float64(s.Arena), 1.15*float64(p.Need(&s)))
				}
			}
		})
	}
}
