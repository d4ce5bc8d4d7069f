package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// planned returns the plan of a step, optimised as Step.Compile does.
func planned(t *testing.T, step *train.Step) *cpu.Executable {
	t.Helper()
	own := fx.NewGraphModule(step.Graph().WithGraph(step.Graph().Graph.Clone()))
	_, err := own.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	exe, err := cpu.Compile(own.Module, lowering.Options{Threads: 1})
	require.NoError(t, err)
	return exe
}

// copied returns the paths that a plan copies values to.
func copied(p *plan.Plan) (paths []string) {
	for i := range p.Steps {
		st := &p.Steps[i]
		if _, is := st.Kernel.(*kernel.Copy); is && p.Buffers[st.Out[0]].Kind == plan.Weight {
			paths = append(paths, p.Buffers[st.Out[0]].Path)
		}
	}
	return paths
}

// TestStep_plan: updates are made in their place. Only what is known before labels are looked up, which
// may refuse the batch, is copied.
func TestStep_plan(t *testing.T) {
	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, rule, specs...)
	require.NoError(t, err)
	for _, path := range copied(planned(t, step).Plan()) {
		require.NotContains(t, step.Params(), path)
		require.NotContains(t, path, "optim.exp_avg")
	}

	lin := nn.NewLinear(64, 256, nn.Seed(1))
	loss := func(x *tensor.Tensor) *tensor.Tensor { return lin.Forward(x).Square().Mean() }
	step, err = train.NewStep(ctx, lin, loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.1, WeightDecay: 0.1}}, fx.Input("x", "f32[2,64]"))
	require.NoError(t, err)
	exe := planned(t, step)
	require.Empty(t, copied(exe.Plan()))
	arena, known := exe.Plan().Arena.Int()
	require.True(t, known)
	params, kept := 4*(64*256+256), 4*2*256
	require.LessOrEqual(t, arena, (params+2*kept)*105/100, "gradients and what is kept for them")
	x := array.New(array.F32, 2, 64)
	in := []*array.Array{x}
	out, err := exe.Run(ctx, in)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(5, func() {
		if err := exe.RunInto(ctx, out, in); err != nil {
			panic(err)
		}
	}))
}
