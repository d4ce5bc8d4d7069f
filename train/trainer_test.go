package train_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

var specs = []fx.Option{fx.Input("x", "f32[N,1,6,6]"), fx.Input("y", "i64[N]")}

// rule has all that keeps state.
var rule = optim.Rule{
	Optimiser: optim.AdamW{LR: 1e-2, WeightDecay: 0.01, AMSGrad: true},
	Groups:    []optim.Group{{Params: []string{"*.bias"}, Optimiser: optim.SGD{LR: 1e-2, Momentum: 0.9}}},
	Schedule:  optim.WarmUp(3, 0.1, optim.Cosine(20, 0.1)), ClipNorm: 1, Average: 0.9, Accumulate: 2,
}

// images are 13 pictures of three kinds of stripes.
func images() []*array.Array {
	const n = 13
	x, y := make([]float32, n*36), make([]int64, n)
	for i := range n {
		y[i] = int64(i % 3)
		for k := range 36 {
			stripe := []int{k / 6, k % 6, k/6 + k%6}[i%3] % 2
			x[36*i+k] = float32(stripe) + 0.2*float32(math.Sin(float64(i*37+k)))
		}
	}
	return []*array.Array{array.FromSlice(x, n, 1, 6, 6), array.FromSlice(y, n)}
}

func batches(t *testing.T) *train.Batches {
	t.Helper()
	b, err := train.NewBatches(train.Batches{Data: images(), Size: 4, Shuffle: true, Seed: 5, Classes: 3})
	require.NoError(t, err)
	return b
}

// trainer returns a new network and its trainer; every loss is appended to losses.
func trainer(t *testing.T, r optim.Rule, losses *[]float64) (*convNet, *train.Trainer) {
	t.Helper()
	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, r, specs...)
	require.NoError(t, err)
	eval, err := train.NewEval(ctx, m, m.loss, specs...)
	require.NoError(t, err)
	return m, &train.Trainer{Step: step, Eval: eval, Epochs: 3, OnBatch: func(_ context.Context, b train.Batch) error {
		*losses = append(*losses, b.Metrics["loss"])
		return nil
	}}
}

func state(m any) (list []*array.Array) {
	tensor.Walk(m, func(it tensor.Item) bool {
		if it.Tensor != nil {
			list = append(list, array.Clone(it.Tensor.Array()))
		}
		return it.Module != nil
	})
	return list
}

func requireSame(t *testing.T, want, got []*array.Array) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, array.Equal(want[i], got[i]), "tensor %d", i)
	}
}

// TestTrainer_resumesWithTheSameBits stops after each number of steps and goes on with other
// objects, as another process does.
func TestTrainer_resumesWithTheSameBits(t *testing.T) {
	var want []float64
	m, whole := trainer(t, rule, &want)
	epochs, err := whole.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	require.Len(t, want, 12)
	require.Less(t, epochs[2].Metrics["loss"], epochs[0].Metrics["loss"])
	for _, stop := range []int{1, 3, 4, 6, 11} {
		dir := t.TempDir()
		var got []float64
		_, first := trainer(t, rule, &got)
		first.Checkpoints = train.Checkpoints{Dir: dir, Every: stop, Keep: 2}
		c, cancel := context.WithCancel(ctx)
		record := first.OnBatch
		first.OnBatch = func(ctx context.Context, b train.Batch) error {
			if b.Step == stop {
				cancel()
			}
			return record(ctx, b)
		}
		_, err := first.Fit(c, batches(t), batches(t))
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, got, stop)
		n, second := trainer(t, rule, &got)
		second.Checkpoints = first.Checkpoints
		rest, err := second.Fit(ctx, batches(t), batches(t))
		require.NoError(t, err)
		require.Equal(t, want, got, "stopped after step %d", stop)
		requireSame(t, state(m), state(n))
		require.Equal(t, epochs[2].Metrics, rest[len(rest)-1].Metrics)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.LessOrEqual(t, len(files), 2, "the last two are kept")
	}
}

// TestStep_threadsAndInterpreter runs one training on 1, 2 and 4 threads, which give the same bits, and
// interprets it.
func TestStep_threadsAndInterpreter(t *testing.T) {
	var results [][]float64
	for _, threads := range []int{1, 2, 4} {
		var losses []float64
		_, tr := trainer(t, rule, &losses)
		require.NoError(t, tr.Step.Compile(ctx, lowering.Options{Threads: threads}))
		_, err := tr.Fit(ctx, batches(t), batches(t))
		require.NoError(t, err)
		results = append(results, losses)
	}
	require.Equal(t, results[0], results[1])
	require.Equal(t, results[0], results[2])

	m := newConvNet()
	step, err := train.NewStep(ctx, m, m.loss, rule, specs...)
	require.NoError(t, err)
	var losses []float64
	b := batches(t)
	for epoch := range 3 {
		for i := range b.Len() {
			batch, err := b.Batch(epoch, i)
			require.NoError(t, err)
			out, err := step.Graph().RunArrays(ctx, batch)
			require.NoError(t, err)
			losses = append(losses, array.Float64At(out[0], 0))
		}
	}
	require.InDeltaSlice(t, losses, results[0], 2e-5)
	require.Equal(t, 6, step.Updates())
}

// TestStep_accumulates compares the mean of two batches with one of both.
func TestStep_accumulates(t *testing.T) {
	weights := func(r optim.Rule, sizes ...int) []float32 {
		m := nn.NewLinear(3, 2, nn.Seed(1))
		loss := func(x *tensor.Tensor) *tensor.Tensor { return m.Forward(x).Square().Mean() }
		step, err := train.NewStep(ctx, m, loss, r, fx.Input("x", "f32[N,3]"))
		require.NoError(t, err)
		for range 3 {
			at := 0
			for _, n := range sizes {
				x := array.New(array.F32, n, 3)
				for i := range array.Data[float32](x) {
					array.Data[float32](x)[i] = float32(math.Sin(float64(at)))
					at++
				}
				_, err := step.Run(ctx, x)
				require.NoError(t, err)
			}
		}
		require.Equal(t, 3, step.Updates())
		step.Sync()
		return append([]float32(nil), tensor.Data[float32](m.Weight)...)
	}
	sgd := optim.SGD{LR: 0.1, Momentum: 0.9}
	whole := weights(optim.Rule{Optimiser: sgd, ClipNorm: 0.1}, 6)
	parts := weights(optim.Rule{Optimiser: sgd, ClipNorm: 0.1, Accumulate: 3}, 2, 2, 2)
	for i := range whole {
		require.InDelta(t, whole[i], parts[i], 1e-6)
	}
}

// TestStep_average follows the average of a parameter.
func TestStep_average(t *testing.T) {
	m := newProduct()
	step, err := train.NewStep(ctx, m, m, optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Average: 0.5}, fx.Input("x", "f32[]"))
	require.NoError(t, err)
	require.False(t, step.Average(), "there was no update")
	for range 2 {
		_, err := step.Run(ctx, array.Scalar[float32](1))
		require.NoError(t, err)
	}
	step.Sync()
	w1, w2 := 2.0, 3.0
	var average float64
	for i := range 2 {
		w1, w2 = w1-0.1*w2, w2-0.1*w1
		if average = 0.5*average + 0.5*w1; i == 0 {
			average = w1
		}
	}
	require.InDelta(t, w1, m.W1.Item(), 1e-6)
	require.True(t, step.Average())
	require.InDelta(t, average, m.W1.Item(), 1e-6)
	step.Sync()
	require.InDelta(t, w1, m.W1.Item(), 1e-6)
}

// keeper keeps the parameter of before the step in a slot, and gives the one of before that.
type keeper struct{}

func (keeper) Slots() []string { return []string{"before"} }
func (keeper) Check() error    { return nil }
func (keeper) Update(u *optim.Update) *tensor.Tensor {
	old := u.Slot("before")
	u.Set("before", u.Param)
	return old
}

// Values that lie in the state are those of before the step, whatever is written first; results,
// too.
func TestStep_statesThatChangePlaces(t *testing.T) {
	for _, planned := range []bool{false, true} {
		m := newProduct()
		loss := func(x *tensor.Tensor) (*tensor.Tensor, train.Metrics) {
			return m.Forward(x), train.Metrics{"w1": m.W1}
		}
		step, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: keeper{}}, fx.Input("x", "f32[]"))
		require.NoError(t, err)
		require.Equal(t, []string{"loss", "w1"}, step.Names())
		for _, want := range []float64{2, 0, 2, 0} {
			x := []*array.Array{array.Scalar[float32](1)}
			var out []*array.Array
			if planned {
				out, err = step.Run(ctx, x...)
			} else {
				out, err = step.Graph().RunArrays(ctx, x)
			}
			require.NoError(t, err)
			require.Equal(t, want, array.Float64At(out[1], 0))
		}
	}
}

// Frozen parameters stay, and their layers need no gradients.
func TestStep_freezes(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(3, 4, nn.Seed(1)), nn.NewReLU(), nn.NewLinear(4, 2, nn.Seed(2)))
	loss := func(x *tensor.Tensor) *tensor.Tensor { return m.Forward(x).Square().Mean() }
	before := state(m)
	step, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 1}, Groups: []optim.Group{{Params: []string{"0.*"}}}}, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	require.Equal(t, []string{"2.weight", "2.bias"}, step.Params())
	_, err = step.Run(ctx, array.FromSlice([]float32{1, 2, 3}, 1, 3))
	require.NoError(t, err)
	step.Sync()
	after := state(m)
	requireSame(t, before[:2], after[:2])
	require.False(t, array.Equal(before[2], after[2]))
}

// TestTrainer_logs reads the lines, and evaluates averages.
func TestTrainer_logs(t *testing.T) {
	var losses []float64
	_, tr := trainer(t, rule, &losses)
	var log bytes.Buffer
	tr.Log, tr.UseAverage = &log, true
	stops := 0
	tr.OnEpoch = func(context.Context, train.Epoch) error {
		if stops++; stops == 2 {
			return train.ErrStop
		}
		return nil
	}
	epochs, err := tr.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	require.Len(t, epochs, 2)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	var line map[string]float64
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &line))
	require.EqualValues(t, 8, line["step"])
	for _, name := range []string{"loss", "accuracy", "test_loss", "test_accuracy"} {
		require.Equal(t, epochs[1].Metrics[name], line[name], name)
	}
}

// TestTrainer_evaluatesTheModel compares Eval with the model's own results.
func TestTrainer_evaluatesTheModel(t *testing.T) {
	var losses []float64
	m, tr := trainer(t, optim.Rule{Optimiser: optim.Adam{LR: 1e-2}}, &losses)
	epochs, err := tr.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	data := images()
	loss, metrics := m.loss(tensor.New(data[0]), tensor.New(data[1]))
	require.InDelta(t, loss.Item(), epochs[2].Metrics["test_loss"], 1e-5)
	require.InDelta(t, metrics["accuracy"].Item(), epochs[2].Metrics["test_accuracy"], 1e-6)
}

// A loss that does not get better ends training, and lowers the rate before.
func TestTrainer_stopsEarly(t *testing.T) {
	m := newProduct()
	still := func(step *tensor.Tensor) *tensor.Tensor { return step.ZerosLike() }
	step, err := train.NewStep(ctx, m, func(x *tensor.Tensor) *tensor.Tensor { return m.Forward(x).Sum() }, optim.Rule{Optimiser: optim.SGD{LR: 1}, Schedule: still}, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	b, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice([]float32{1, 2}, 2)}, Size: 1})
	require.NoError(t, err)
	tr := &train.Trainer{Step: step, Epochs: 50, Stop: &train.EarlyStop{Metric: "loss", Patience: 6}, Plateau: &train.Plateau{Metric: "loss", Patience: 1, Factor: 0.5, Least: 0.3}}
	epochs, err := tr.Fit(ctx, b, nil)
	require.NoError(t, err)
	require.Len(t, epochs, 7)
	var scales []float64
	for _, e := range epochs {
		scales = append(scales, e.Scale)
	}
	require.Equal(t, []float64{1, 1, 0.5, 0.5, 0.3, 0.3, 0.3}, scales)
	require.Equal(t, 0.3, step.Scale())
}

// A loader may fail, and a callback.
func TestTrainer_errors(t *testing.T) {
	var losses []float64
	_, tr := trainer(t, rule, &losses)
	broken := errors.New("broken")
	_, err := tr.Fit(ctx, failing{batches(t), broken}, batches(t))
	require.ErrorIs(t, err, broken)
	tr.OnBatch = func(context.Context, train.Batch) error { return broken }
	_, err = tr.Fit(ctx, batches(t), batches(t))
	require.ErrorIs(t, err, broken)
	wrong := images()
	wrong[1] = array.FromSlice(make([]int64, 14), 14)
	wrong[0] = array.New(array.F32, 14, 1, 5, 6)
	b, err := train.NewBatches(train.Batches{Data: wrong, Size: 7})
	require.NoError(t, err)
	_, err = tr.Fit(ctx, b, batches(t))
	require.ErrorContains(t, err, "f32[N,1,6,6]")
}

type failing struct {
	*train.Batches
	err error
}

func (f failing) Batch(epoch, i int) ([]*array.Array, error) {
	if i == 2 {
		return nil, f.err
	}
	return f.Batches.Batch(epoch, i)
}

// The first node that gives no number is named, also where the loss shows it one step later.
func TestTrainer_namesTheFirstNaN(t *testing.T) {
	type net struct{ W *tensor.Tensor }
	m := &net{tensor.Param(array.FromSlice([]float32{3}, 1))}
	loss := func(x *tensor.Tensor) *tensor.Tensor {
		root := m.W.Sub(x).Sqrt() // of 0 in row 2: its gradient is infinite
		return root.Mul(root).Sum()
	}
	step, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.SGD{LR: 0.5}}, fx.Input("x", "f32[N]"))
	require.NoError(t, err)
	b, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice([]float32{1, 1.5, 2, 9, 1}, 5)}, Size: 1})
	require.NoError(t, err)
	_, err = (&train.Trainer{Step: step, Epochs: 1}).Fit(ctx, b, nil)
	require.ErrorIs(t, err, train.NotFinite)
	require.ErrorContains(t, err, "the loss is NaN in step 4 (epoch 1, batch 4)")
	require.ErrorContains(t, err, "trainer_test.go:")
	require.ErrorContains(t, err, fmt.Sprintf("in step %d", 3))
}

// Another model, loss, optimiser or loader is refused, with its differences, and so is a file that
// is no checkpoint.
func TestTrainer_refusesOtherCheckpoints(t *testing.T) {
	dir := t.TempDir()
	var losses []float64
	_, tr := trainer(t, rule, &losses)
	tr.Epochs, tr.Checkpoints = 1, train.Checkpoints{Dir: dir}
	_, err := tr.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)

	fit := func(r optim.Rule, b *train.Batches) error {
		m, tr := trainer(t, r, &losses)
		tr.Checkpoints = train.Checkpoints{Dir: dir}
		before := state(m)
		_, err := tr.Fit(ctx, b, batches(t))
		if err != nil {
			requireSame(t, before, state(m))
		}
		return err
	}
	other := rule
	other.Optimiser = optim.RAdam{LR: 1e-2}
	err = fit(other, batches(t))
	require.ErrorIs(t, err, train.OtherModel)
	require.ErrorContains(t, err, "the step has no tensor optim.max_exp_avg_sq.fc.weight")
	other.Optimiser = optim.AdamW{LR: 2e-2, WeightDecay: 0.01, AMSGrad: true}
	err = fit(other, batches(t))
	require.ErrorIs(t, err, train.OtherModel)
	require.ErrorContains(t, err, "other=0.02")
	wrong := batches(t)
	wrong.Seed = 6
	require.ErrorContains(t, fit(rule, wrong), "the loader had 4 batches: 13 rows in batches of 4, shuffle true, seed 5")
	require.NoError(t, fit(rule, batches(t)))

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for name, text := range map[string][]byte{"nothing": nil, "zeros": make([]byte, 100), "a part": whole[:len(whole)-9]} {
		require.NoError(t, os.WriteFile(files[0], text, 0o644))
		require.ErrorIs(t, fit(rule, batches(t)), train.BadCheckpoint, name)
	}
}
