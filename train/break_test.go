package train_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// tied has one weight at two paths.
type tied struct {
	Emb  *nn.Embedding
	Head *nn.Linear
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.NewCrossEntropyLoss().Forward(m.Head.Forward(m.Emb.Forward(x)), x)
}

// A tied weight has one state and one update, of the sum of its gradients.
func TestStep_tiedWeights(t *testing.T) {
	m := &tied{nn.NewEmbedding(5, 3, nn.Seed(1)), nn.NewLinear(3, 5, nn.NoBias())}
	m.Head.Weight = m.Emb.Weight
	step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.AdamW{LR: 0.1}}, fx.Input("x", "i64[N]"))
	require.NoError(t, err)
	require.Equal(t, []string{"emb.weight"}, step.Params())
	x := array.FromSlice([]int64{0, 1, 2, 3, 4}, 5)
	var first, last float64
	for i := range 30 {
		out, err := step.Run(ctx, x)
		require.NoError(t, err)
		if last = array.Float64At(out[0], 0); i == 0 {
			first = last
		}
	}
	require.Less(t, last, first/10)
}

// A group names a tied weight by any of its paths, and the graph has one of them.
func TestStep_groupsOfTiedWeights(t *testing.T) {
	for _, c := range []struct {
		group optim.Group
		want  []string
		speed float64
	}{
		{optim.Group{Params: []string{"head.*"}}, nil, 0},
		{optim.Group{Params: []string{"emb.weight"}}, nil, 0},
		{optim.Group{Params: []string{"head.weight"}, Optimiser: optim.SGD{LR: 0.5}}, []string{"emb.weight"}, 0.5},
		{optim.Group{Params: []string{"emb.*"}, Optimiser: optim.SGD{LR: 0.25}}, []string{"emb.weight"}, 0.25},
	} {
		m := &tied{nn.NewEmbedding(5, 3, nn.Seed(1)), nn.NewLinear(3, 5, nn.Seed(2))}
		m.Head.Weight = m.Emb.Weight
		step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.SGD{LR: 1}, Groups: []optim.Group{c.group}}, fx.Input("x", "i64[N]"))
		if c.want == nil {
			if c.group.Params[0] == "head.*" { // the bias, too
				require.ErrorIs(t, err, optim.BadSetting)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, []string{"head.bias"}, step.Params())
			continue
		}
		require.NoError(t, err)
		require.Contains(t, step.Params(), "emb.weight")
		x := array.FromSlice([]int64{0, 1, 2, 3, 4}, 5)
		_, g, err := fx.ValueAndGrad(func() *tensor.Tensor { return m.Forward(tensor.New(x)) }, m.Emb.Weight)
		require.NoError(t, err)
		want := m.Emb.Weight.Sub(g[0].MulScalar(c.speed))
		_, err = step.Run(ctx, x)
		require.NoError(t, err)
		step.Sync()
		require.InDelta(t, 0, want.Sub(m.Emb.Weight).Abs().Max().Item(), 1e-6)
	}
}

// Tensors over one memory that are not one tensor would lose updates.
func TestStep_weightsOverOneMemory(t *testing.T) {
	for name, view := range map[string]func(w *array.Array) *tensor.Tensor{
		"transposed": func(w *array.Array) *tensor.Tensor { return tensor.New(w).Transpose(0, 1) },
		"a part":     func(w *array.Array) *tensor.Tensor { return tensor.Param(array.Slice(w, 0, 1, 2, 1)) },
		"frozen": func(w *array.Array) *tensor.Tensor {
			v := tensor.Param(array.Permute(w, 1, 0))
			v.Freeze(true)
			return v
		},
	} {
		first, second := nn.NewLinear(3, 3, nn.NoBias(), nn.Seed(1)), nn.NewLinear(3, 3, nn.NoBias(), nn.Seed(2))
		second.Weight = view(first.Weight.Array())
		m := nn.NewSequential(first, second)
		loss := func(x *tensor.Tensor) *tensor.Tensor { return m.Forward(x).Square().Mean() }
		_, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.1}}, fx.Input("x", "f32[N,3]"))
		require.ErrorIs(t, err, train.BadTrainer, name)
		require.ErrorContains(t, err, "1.weight lies in the memory of 0.weight", name)
	}
}

// other has parameters where the optimiser's state would lie.
type other struct {
	Optim  *nn.Linear
	Optim_ *nn.Linear
}

func (m *other) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Optim_.Forward(m.Optim.Forward(x)).Square().Mean()
}

func TestStep_namesThatAreTaken(t *testing.T) {
	m := &other{nn.NewLinear(2, 2, nn.Seed(1)), nn.NewLinear(2, 2, nn.Seed(2))}
	step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.Adam{LR: 0.1}}, fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	require.Len(t, step.Params(), 4)
	_, err = step.Run(ctx, array.FromSlice([]float32{1, 2}, 1, 2))
	require.NoError(t, err)
	require.Equal(t, 1, step.Updates())
}

// A module that the loss calls and that is no part of the model stays as it is.
func TestStep_otherModulesStay(t *testing.T) {
	student, teacher := nn.NewLinear(2, 2, nn.Seed(1)), nn.NewLinear(2, 2, nn.Seed(2))
	before := state(teacher)
	loss := func(x *tensor.Tensor) *tensor.Tensor {
		return nn.NewMSELoss().Forward(student.Forward(x), teacher.Forward(x))
	}
	step, err := train.NewStep(ctx, student, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.3, Momentum: 0.5}}, fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	require.Equal(t, []string{"weight", "bias"}, step.Params())
	for range 900 {
		_, err := step.Run(ctx, array.FromSlice([]float32{1, 0, 0, 1, -1, 1}, 3, 2))
		require.NoError(t, err)
	}
	step.Sync()
	requireSame(t, before, state(teacher))
	for i, v := range tensor.Data[float32](student.Weight) {
		require.InDelta(t, tensor.Data[float32](teacher.Weight)[i], v, 1e-3)
	}
}

// Compile in the middle of training keeps the state.
func TestStep_compilesAgain(t *testing.T) {
	losses := func(again int) (list []float64) {
		m := newConvNet()
		step, err := train.NewStep(ctx, m, m.loss, rule, specs...)
		require.NoError(t, err)
		for i := range 6 {
			if i == again {
				require.NoError(t, step.Compile(ctx, lowering.Options{Threads: 2}))
			}
			batch, err := batches(t).Batch(0, i%4)
			require.NoError(t, err)
			out, err := step.Run(ctx, batch...)
			require.NoError(t, err)
			list = append(list, array.Float64At(out[0], 0))
		}
		return list
	}
	require.Equal(t, losses(-1), losses(3))
}

// A step is saved and read as every graph, and goes on.
func TestStep_savedAndRead(t *testing.T) {
	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, rule, specs...)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "step")
	require.NoError(t, graph.Save(dir, step.Graph().Module))
	read, err := graph.Load(dir)
	require.NoError(t, err)
	copied := fx.NewGraphModule(read)
	for i := range 4 {
		batch, err := batches(t).Batch(0, i)
		require.NoError(t, err)
		want, err := step.Graph().RunArrays(ctx, batch)
		require.NoError(t, err)
		got, err := copied.RunArrays(ctx, batch)
		require.NoError(t, err)
		requireSame(t, want, got)
	}
}

// A branch of the batch trains the parameters of the branch that is taken.
func TestStep_ofABranch(t *testing.T) {
	m := newProduct()
	loss := func(x *tensor.Tensor) *tensor.Tensor {
		twice := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(m.W1)} }
		once := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Mul(m.W2)} }
		return tensor.Cond(x.GtScalar(0), twice, once, x)[0]
	}
	step, err := train.NewStep(ctx, m, loss, sgd, fx.Input("x", "f32[]"))
	require.NoError(t, err)
	_, err = step.Run(ctx, array.Scalar[float32](2))
	require.NoError(t, err)
	step.Sync()
	require.InDelta(t, 2-2*sgd.Optimiser.(optim.SGD).LR, m.W1.Item(), 1e-6)
	require.InDelta(t, 3, m.W2.Item(), 0)
}

// results is a loss with metrics in a struct.
type results struct {
	Loss *tensor.Tensor
	Part struct{ Mean, Norm *tensor.Tensor }
}

func TestStep_resultsOfAStruct(t *testing.T) {
	m := newProduct()
	loss := func(x *tensor.Tensor) (r results) {
		r.Loss = m.Forward(x).Mean()
		r.Part.Mean, r.Part.Norm = x.Mean(), x.Square().Sum()
		return r
	}
	step, err := train.NewStep(ctx, m, loss, sgd, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	require.Len(t, step.Names(), 3)
	require.Equal(t, "loss", step.Names()[0])
	require.Contains(t, step.Names()[2], "orm")
	out, err := step.Run(ctx, array.FromSlice([]float32{1, 3}, 2))
	require.NoError(t, err)
	require.EqualValues(t, 10, array.Float64At(out[2], 0))
}

// gpt is a language model with its loss.
type gpt struct{ Net *models.GPT2 }

func (m *gpt) Forward(ids *tensor.Tensor) *tensor.Tensor {
	logits, _ := m.Net.Forward(ids.Narrow(1, 0, 7))
	return nn.NewCrossEntropyLoss().Forward(logits.Transpose(1, 2), ids.Narrow(1, 1, 7))
}

// recurrent predicts a number from a sequence.
type recurrent struct {
	Net  *nn.LSTM
	Head *nn.Linear
}

func (m *recurrent) Forward(x *tensor.Tensor) *tensor.Tensor {
	_, h, _ := m.Net.Forward(x, nil, nil)
	return nn.NewMSELoss().Forward(m.Head.Forward(h.Select(0, 0)), x.Sum(0))
}

// Networks of other kinds: a transformer with a tied head, an LSTM, half precision. Plan and
// interpreter agree, and the loss falls.
func TestStep_otherNetworks(t *testing.T) {
	ids := array.FromSlice([]int64{1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1}, 2, 8)
	waves := array.New(array.F32, 5, 3, 2)
	for i := range array.Data[float32](waves) {
		array.Data[float32](waves)[i] = float32(math.Sin(float64(i)))
	}
	half := nn.NewLinear(2, 2, nn.Seed(3))
	half.Weight, half.Bias = half.Weight.Cast(array.F16), half.Bias.Cast(array.F16)
	half.Weight.MarkParam()
	half.Bias.MarkParam()
	halves := array.FromSlice([]float32{1, 0, 0.5, 2}, 2, 2)
	for name, c := range map[string]struct {
		make func() any
		spec fx.Option
		in   *array.Array
	}{
		"gpt": {func() any {
			net := models.NewGPT2(models.GPT2Config{VocabSize: 11, MaxPositions: 8, Width: 16, NumLayers: 1, NumHeads: 2, LayerNormEps: 1e-5})
			nn.ResetParameters(net, 1)
			return &gpt{net}
		}, fx.Input("ids", "i64[N,8]"), ids},
		"lstm": {func() any {
			return &recurrent{nn.NewLSTM(2, 4, nn.Seed(1)), nn.NewLinear(4, 2, nn.Seed(2))}
		}, fx.Input("x", "f32[5,N,2]"), waves},
	} {
		t.Run(name, func(t *testing.T) {
			var losses [2][]float64
			for i := range 2 {
				m := c.make()
				step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.Adam{LR: 0.01}, ClipNorm: 1}, c.spec)
				require.NoError(t, err)
				for range 20 {
					var out []*array.Array
					if i == 0 {
						out, err = step.Run(ctx, c.in)
					} else {
						out, err = step.Graph().RunArrays(ctx, []*array.Array{c.in})
					}
					require.NoError(t, err)
					losses[i] = append(losses[i], array.Float64At(out[0], 0))
				}
			}
			require.InDeltaSlice(t, losses[1], losses[0], 1e-3)
			require.Less(t, losses[0][19], losses[0][0])
		})
	}
	step, err := train.NewStep(ctx, half, func(x *tensor.Tensor) *tensor.Tensor { return half.Forward(x.Cast(array.F16)).Square().Mean() }, optim.Rule{Optimiser: optim.AdamW{LR: 0.1, Eps: 1e-3}, ClipNorm: 1}, fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	var first, last float64
	for i := range 20 {
		out, err := step.Run(ctx, halves)
		require.NoError(t, err)
		if last = array.Float64At(out[0], 0); i == 0 {
			first = last
		}
	}
	require.Less(t, last, first)
}

// A metric that is NaN is kept in checkpoints, and a stop that was reached holds.
func TestTrainer_checkpointsOfOddNumbers(t *testing.T) {
	dir := t.TempDir()
	fit := func() []train.Epoch {
		m := newProduct()
		loss := func(x *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
			return m.Forward(x).Mean(), train.Metrics{"odd": x.Sub(x).Div(x.Sub(x)).Mean()}
		}
		step, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 1e-3}}, fx.Input("x", "f32[N]"))
		require.NoError(t, err)
		b, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice([]float32{1, 2, 3}, 3)}, Size: 1})
		require.NoError(t, err)
		tr := &train.Trainer{Step: step, Epochs: 9, Checkpoints: train.Checkpoints{Dir: dir, Every: 1}, Stop: &train.EarlyStop{Metric: "odd", Patience: 2}}
		epochs, err := tr.Fit(ctx, b, nil)
		require.NoError(t, err)
		return epochs
	}
	epochs := fit()
	require.Len(t, epochs, 2)
	require.True(t, math.IsNaN(epochs[0].Metrics["odd"]))
	require.Empty(t, fit())
}

// A context that ends in the last batch of an epoch, and so in the evaluation, loses nothing.
func TestTrainer_endsInEvaluation(t *testing.T) {
	dir := t.TempDir()
	var want, got []float64
	_, whole := trainer(t, rule, &want)
	_, err := whole.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	_, first := trainer(t, rule, &got)
	first.Checkpoints.Dir = dir
	c, cancel := context.WithCancel(ctx)
	record := first.OnBatch
	first.OnBatch = func(ctx context.Context, b train.Batch) error {
		if b.Step == 8 {
			cancel()
		}
		return record(ctx, b)
	}
	_, err = first.Fit(c, batches(t), batches(t))
	require.ErrorIs(t, err, context.Canceled)
	_, second := trainer(t, rule, &got)
	second.Checkpoints.Dir = dir
	epochs, err := second.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	require.Len(t, epochs, 2, "the epoch that was not evaluated, and the last one")
	require.Equal(t, want, got)
}

// Bad labels fail a step, which leaves the state as it was.
func TestStep_failsWhole(t *testing.T) {
	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.SGD{LR: 1, Momentum: 0.9}}, specs...)
	require.NoError(t, err)
	good, err := batches(t).Batch(0, 0)
	require.NoError(t, err)
	_, err = step.Run(ctx, good...)
	require.NoError(t, err)
	step.Sync()
	before := state(m)
	for _, label := range []int64{3, -1} {
		_, err = step.Run(ctx, good[0], array.FromSlice([]int64{0, 1, label, 2}, 4))
		require.Error(t, err)
	}
	_, err = step.Run(ctx, good[0])
	require.Error(t, err)
	_, err = step.Run(ctx, good[1], good[0])
	require.Error(t, err)
	step.Sync()
	requireSame(t, before, state(m))
}

// Weights that are loaded after the capture are those that training begins with.
func TestStep_weightsLoadedLater(t *testing.T) {
	losses := func(m *convNet, before, after func()) (list []float64) {
		before()
		step, err := train.NewStep(ctx, m, m.loss, optim.Rule{Optimiser: optim.Adam{LR: 0.01}, Average: 0.5}, specs...)
		require.NoError(t, err)
		eval, err := train.NewEval(ctx, m, m.loss, specs...)
		require.NoError(t, err)
		after()
		for i := range 4 {
			batch, err := batches(t).Batch(0, i)
			require.NoError(t, err)
			out, err := step.Run(ctx, batch...)
			require.NoError(t, err)
			list = append(list, array.Float64At(out[0], 0))
		}
		require.True(t, step.Average())
		means, err := eval.Mean(ctx, batches(t))
		require.NoError(t, err)
		return append(list, means["loss"])
	}
	weights := nn.Arrays{}
	m := newConvNet()
	nn.ResetParameters(m, 77)
	for _, e := range nn.StateDict(m) {
		weights[e.Name] = array.Clone(e.Tensor.Array())
	}
	a, b := newConvNet(), newConvNet()
	load := func(m *convNet) func() {
		return func() { require.NoError(t, nn.LoadStateDict(m, weights)) }
	}
	none := func() {}
	require.Equal(t, losses(a, load(a), none), losses(b, none, load(b)))
}
