package train_test

import (
	"maps"
	"slices"
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

// deepNet is linear layers of one width, then classes.
type deepNet struct{ Layers *nn.Sequential }

func newDeepNet(layers, width int) *deepNet {
	var list []nn.Module
	for i := range layers {
		list = append(list, nn.NewLinear(width, width, nn.Seed(uint64(i))), nn.NewReLU())
	}
	return &deepNet{nn.NewSequential(list...)}
}

func (m *deepNet) loss(x, y *tensor.Tensor) *tensor.Tensor {
	return nn.NewCrossEntropyLoss().Forward(m.Layers.Forward(x), y)
}

// TestStep_gradientsDieEarly: without clipping by norm a gradient is used as soon as it exists. Besides
// the state a run holds what is kept for gradients, and little more.
func TestStep_gradientsDieEarly(t *testing.T) {
	const layers, width, batch = 8, 256, 4
	m := newDeepNet(layers, width)
	data := []fx.Option{fx.Input("x", "f32[4,256]"), fx.Input("y", "i64[4]")}
	step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.1}}, data...)
	require.NoError(t, err)
	exe := planned(t, step)
	held, known := exe.Plan().Arena.Int()
	require.True(t, known)
	state, kept := 3*4*layers*(width*width+width), 4*batch*width*2*layers
	require.LessOrEqual(t, state+held, (state+kept)*105/100)

	clipped, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, ClipNorm: 1}, data...)
	require.NoError(t, err)
	held, _ = planned(t, clipped).Plan().Arena.Int()
	require.Greater(t, held, 4*layers*width*width, "the norm is of all gradients")

	// The bits are those of the interpreter, which writes everything in the end.
	x, y := array.New(array.F32, batch, width), array.FromSlice([]int64{3, 0, 255, 7}, batch)
	for i := range array.Data[float32](x) {
		array.Data[float32](x)[i] = float32(i%17) / 8
	}
	for range 3 {
		_, err := exe.Run(ctx, []*array.Array{x, y})
		require.NoError(t, err)
		_, err = step.Graph().RunArrays(ctx, []*array.Array{x, y})
		require.NoError(t, err)
	}
	for path := range exe.Plan().Written() {
		require.Equal(t, array.Format(step.Graph().Param(path).Value, 1e9), array.Format(exe.State(path), 1e9), path)
	}
}

// sequenceNet reads tokens and their positions, as language models do, and pools.
type sequenceNet struct {
	Words, Places *nn.Embedding
	Fc            *nn.Linear
}

func newSequenceNet() *sequenceNet {
	return &sequenceNet{nn.NewEmbedding(11, 8, nn.Seed(1)), nn.NewEmbedding(6, 8, nn.Seed(2)), nn.NewLinear(4, 11, nn.Seed(3))}
}

func (m *sequenceNet) loss(x, y *tensor.Tensor) *tensor.Tensor {
	h := m.Words.Forward(x).Add(m.Places.Forward(tensor.Arange(6)))
	h = m.Fc.Forward(h.MaxPool1d(2))
	return nn.NewCrossEntropyLoss().Forward(h.Flatten(0, 1), y.Flatten(0, 1))
}

// TestStep_refusedBatch: updates come before the gradients of what was read by indices, which the forward half has
// looked at; a batch with a label or a token that does not exist leaves the state as it was.
func TestStep_refusedBatch(t *testing.T) {
	m := newSequenceNet()
	step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.1}}, fx.Input("x", "i64[2,6]"), fx.Input("y", "i64[2,6]"))
	require.NoError(t, err)
	exe := planned(t, step)
	p := exe.Plan()
	by, _ := written(p, 4*11)
	require.Len(t, by, 3, "the last layer's weight")
	scatters := 0
	for s := slices.Min(slices.Collect(maps.Values(by))) + 1; s < len(p.Steps); s++ {
		if _, is := p.Steps[s].Kernel.(*kernel.Scatter); is {
			scatters++
		}
	}
	require.Equal(t, 3, scatters, "the pool's and those of both embeddings come after an update\n%s", p)

	state := func() (list []string) {
		for path := range p.Written() {
			list = append(list, path+array.Format(exe.State(path), 1e9))
		}
		slices.Sort(list)
		return list
	}
	x := array.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1}, 2, 6)
	y := array.FromSlice([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0}, 2, 6)
	_, err = exe.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)
	before := state()
	for i, bad := range []int64{11, -1} {
		for k, in := range []*array.Array{x, y} {
			wrong := array.Clone(in)
			array.Data[int64](wrong)[5+i] = bad
			batch := []*array.Array{x, y}
			batch[k] = wrong
			_, err = exe.Run(ctx, batch)
			require.ErrorContains(t, err, "FX2030")
			require.Equal(t, before, state())
		}
	}
	_, err = exe.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)
	require.NotEqual(t, before, state())
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
		{"accumulated", optim.Rule{Optimiser: optim.AdamW{LR: 0.1}, Accumulate: 4}, 4, 2},                                      // the product adds the gradient to the sum of the batches
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
