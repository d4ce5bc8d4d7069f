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

// written returns, for each tensor of the state that has as many elements as a parameter, the step that
// writes it, and how many steps read or write such tensors.
func written(p *plan.Plan, elements int) (by map[string]int, steps int) {
	by = map[string]int{}
	big := func(k int) bool {
		b := &p.Buffers[k]
		n, known := b.Type.Dims().Prod().Int()
		return b.Kind == plan.Weight && b.Pack == nil && known && n == elements
	}
	for s := range p.Steps {
		st := &p.Steps[s]
		writes := false
		for _, k := range st.Out {
			if k >= 0 && big(k) {
				by[p.Buffers[k].Path], writes = s, true
			}
		}
		if writes {
			steps++
		}
	}
	return by, steps
}

// TestStep_onePass: the update of a parameter is one pass over it, its gradient and what the optimiser keeps
// of it, with averages, clipping and accumulation.
func TestStep_onePass(t *testing.T) {
	const in, out = 24, 16
	for _, c := range []struct {
		name  string
		rule  optim.Rule
		state int // tensors of a parameter's size that are written for it
		steps int // that write them
	}{
		{"SGD", optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, 1, 1},
		{"momentum", optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9, Nesterov: true, WeightDecay: 0.1}}, 2, 1},
		{"Adam", optim.Rule{Optimiser: optim.Adam{LR: 0.1}}, 3, 1},
		{"AMSGrad", optim.Rule{Optimiser: optim.Adam{LR: 0.1, AMSGrad: true}}, 4, 1},
		{"AdamW", optim.Rule{Optimiser: optim.AdamW{LR: 0.1, WeightDecay: 0.1}}, 3, 1},
		{"RAdam", optim.Rule{Optimiser: optim.RAdam{LR: 0.1}}, 3, 1},
		{"RMSprop", optim.Rule{Optimiser: optim.RMSprop{LR: 0.1, Momentum: 0.9, Centered: true}}, 4, 1},
		{"LAMB", optim.Rule{Optimiser: optim.LAMB{LR: 0.1}}, 3, 2}, // norms come before the parameter's update
		{"clipped", optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, ClipNorm: 1}, 3, 1},
		{"clipped by value", optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, ClipValue: 1}, 3, 1},
		{"averaged", optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, Average: 0.9}, 4, 1},
		{"accumulated", optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, Accumulate: 4}, 4, 1},
		{"all", optim.Rule{Optimiser: optim.AdamW{LR: 0.1, WeightDecay: 0.1}, Accumulate: 4, Average: 0.9, ClipNorm: 1}, 5, 2}, // the norm is known after the sum of the batches
	} {
		t.Run(c.name, func(t *testing.T) {
			lin := nn.NewLinear(in, out, nn.Seed(1))
			loss := func(x *tensor.Tensor) *tensor.Tensor { return lin.Forward(x).Square().Mean() }
			step, err := train.NewStep(ctx, lin, loss, c.rule, fx.Input("x", "f32[2,24]"))
			require.NoError(t, err)
			p := planned(t, step).Plan()
			by, steps := written(p, in*out)
			require.Len(t, by, c.state)
			require.Equal(t, c.steps, steps, "%s", p)
			require.Empty(t, copied(p))
		})
	}
}
