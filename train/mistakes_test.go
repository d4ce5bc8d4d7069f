package train_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

// layers has a layer that its loss does not use.
type layers struct{ A, B *nn.Linear }

func (m *layers) Forward(x *tensor.Tensor) *tensor.Tensor { return m.A.Forward(x).Square().Mean() }

var sgd = optim.Rule{Optimiser: optim.SGD{LR: 0.1}}

func newLayers() *layers { return &layers{nn.NewLinear(2, 2), nn.NewLinear(2, 2)} }

// TestExamplesOfCodes makes the mistake of every documented code of training, as its example
// says, and demands that code.
func TestExamplesOfCodes(t *testing.T) {
	var losses []float64
	mistakes := map[diag.Code]func() error{
		optim.BadSetting: func() error { return optim.SGD{LR: -1}.Check() },
		train.Unused: func() error {
			m := newLayers()
			_, err := train.NewStep(ctx, m, m, sgd, fx.Input("x", "f32[N,2]"))
			require.ErrorContains(t, err, "b.weight")
			require.ErrorContains(t, err, "b.bias")
			return err
		},
		train.NotMetric: func() error {
			m := newLayers()
			_, err := train.NewStep(ctx, m, func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) { return m.Forward(x), x }, sgd, fx.Input("x", "f32[N,2]"))
			return err
		},
		train.BadData: func() error {
			_, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice([]int64{0, 1, 7}, 3)}, Size: 1, Classes: 3})
			require.ErrorContains(t, err, "the label of row 2 is 7, expected a class from 0 to 2")
			return err
		},
		train.BadCSV: func() error {
			_, _, err := train.ReadCSV(strings.NewReader("1,2\n3\n"), train.CSV{})
			return err
		},
		train.OtherModel: func() error {
			dir := t.TempDir()
			b, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice([]float32{1, 2}, 1, 2)}, Size: 1})
			require.NoError(t, err)
			fit := func(m any, loss any) error {
				step, err := train.NewStep(ctx, m, loss, sgd, fx.Input("x", "f32[N,2]"))
				require.NoError(t, err)
				_, err = (&train.Trainer{Step: step, Epochs: 1, Checkpoints: train.Checkpoints{Dir: dir}}).Fit(ctx, b, nil)
				return err
			}
			one, two := nn.NewLinear(2, 2), newLayers()
			require.NoError(t, fit(one, func(x *tensor.Tensor) *tensor.Tensor { return one.Forward(x).Mean() }))
			return fit(two, func(x *tensor.Tensor) *tensor.Tensor { return two.B.Forward(two.A.Forward(x)).Mean() })
		},
		train.BadCheckpoint: func() error {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "step-00000001.safetensors"), make([]byte, 100), 0o644))
			_, tr := trainer(t, rule, &losses)
			tr.Checkpoints.Dir = dir
			_, err := tr.Fit(ctx, batches(t), batches(t))
			return err
		},
		train.NotFinite: func() error {
			_, tr := trainer(t, optim.Rule{Optimiser: optim.SGD{LR: 1e30}}, &losses)
			_, err := tr.Fit(ctx, batches(t), batches(t))
			return err
		},
		train.FolderInUse: func() error {
			_, tr := trainer(t, rule, &losses)
			tr.Checkpoints.Dir = t.TempDir()
			var refused error
			tr.OnBatch = func(context.Context, train.Batch) error {
				_, second := trainer(t, rule, &losses)
				second.Checkpoints.Dir = tr.Checkpoints.Dir
				_, refused = second.Fit(ctx, batches(t), batches(t))
				return train.ErrStop
			}
			_, err := tr.Fit(ctx, batches(t), batches(t))
			require.NoError(t, err)
			return refused
		},
		train.BadTrainer: func() error {
			_, err := (&train.Trainer{Epochs: 1}).Fit(ctx, batches(t), nil)
			return err
		},
	}
	for _, info := range diag.Codes() {
		if strings.HasPrefix(string(info.Code), "FX31") {
			t.Run(string(info.Code), func(t *testing.T) {
				require.Contains(t, mistakes, info.Code)
				require.ErrorIs(t, mistakes[info.Code](), info.Code)
			})
		}
	}
}

func TestNewBatches_mistakes(t *testing.T) {
	nan := float32(math.NaN())
	x := array.FromSlice([]float32{1, 2, 3, nan, 5, 6}, 3, 2)
	y := array.FromSlice([]int64{0, 1}, 2)
	_, err := train.NewBatches(train.Batches{Data: []*array.Array{x, y}})
	require.ErrorIs(t, err, train.BadData)
	for _, want := range []string{"array 0 is NaN in row 1", "array 1 has 2 rows, array 0 has 3", "the size of batches is 0"} {
		require.ErrorContains(t, err, want)
	}
	for want, b := range map[string]train.Batches{
		"there are no arrays":          {Size: 1},
		"the arrays have no rows":      {Size: 1, Data: []*array.Array{array.New(array.F32, 0, 3)}},
		"array 0 has no rows":          {Size: 1, Data: []*array.Array{array.Scalar[float32](1)}},
		"fewer than a batch":           {Size: 3, DropLast: true, Data: []*array.Array{y}},
		"the label of row 1 is -1":     {Size: 1, Classes: 2, Data: []*array.Array{array.FromSlice([]int64{1, -1}, 2)}},
		"the labels are f32":           {Size: 1, Classes: 2, Data: []*array.Array{array.New(array.F32, 2)}},
		"array 0 is +Inf in row 0":     {Size: 1, Data: []*array.Array{array.FromSlice([]float64{math.Inf(1)}, 1)}},
		"array 1 has no rows":          {Size: 1, Data: []*array.Array{y, nil}},
		"expected a class from 0 to 0": {Size: 1, Classes: 1, Data: []*array.Array{y}},
	} {
		_, err := train.NewBatches(b)
		require.ErrorContains(t, err, want)
	}
	ignored := -1
	_, err = train.NewBatches(train.Batches{Size: 1, Classes: 2, Ignore: &ignored, Data: []*array.Array{array.FromSlice([]int64{1, -1}, 2)}})
	require.NoError(t, err)
}

// TestBatches_order demands each row once an epoch, in another order each time, and the same when
// asked again.
func TestBatches_order(t *testing.T) {
	rows := make([]int64, 10)
	for i := range rows {
		rows[i] = int64(i)
	}
	b, err := train.NewBatches(train.Batches{Data: []*array.Array{array.FromSlice(rows, 10)}, Size: 4, Shuffle: true, Seed: 9})
	require.NoError(t, err)
	epoch := func(n int) (list []int64) {
		for i := range b.Len() {
			batch, err := b.Batch(n, i)
			require.NoError(t, err)
			list = append(list, array.Data[int64](batch[0])...)
		}
		return list
	}
	require.Equal(t, 3, b.Len())
	require.ElementsMatch(t, rows, epoch(0))
	require.NotEqual(t, epoch(0), epoch(1))
	require.Equal(t, epoch(1), epoch(1))
	before := epoch(1)
	b.Seed = 10
	require.NotEqual(t, before, epoch(1))
	b.DropLast = true
	require.Len(t, epoch(0), 8)
	_, err = b.Batch(0, 2)
	require.ErrorIs(t, err, train.BadData)
	part := train.Rows(b.Data, func(i int) bool { return i%3 == 1 })
	require.Equal(t, []int64{1, 4, 7}, array.Data[int64](part[0]))
	turned := array.Permute(array.FromSlice([]int64{1, 2, 3, 4}, 2, 2), 1, 0)
	require.Equal(t, []int64{2, 4}, array.Data[int64](train.Rows([]*array.Array{turned}, func(i int) bool { return i == 1 })[0]))
}

func TestReadCSV(t *testing.T) {
	x, y, err := train.ReadCSV(strings.NewReader("a,b,c\n1, 2.5,0\n\n-3,4e1,2\n"), train.CSV{Header: true, Label: -1})
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2.5, -3, 40}, array.Data[float32](x))
	require.Equal(t, []int64{0, 2}, array.Data[int64](y))
	x, y, err = train.ReadCSV(strings.NewReader("1;2\n3;4\n"), train.CSV{Comma: ';', Values: true})
	require.NoError(t, err)
	require.Equal(t, []float32{2, 4}, array.Data[float32](x))
	require.Equal(t, []int{2, 1}, y.Shape())
	_, _, err = train.ReadCSV(strings.NewReader("1,x,0\n1,2\n1,NaN,0.5\n\"1"), train.CSV{Label: 2})
	require.ErrorIs(t, err, train.BadCSV)
	for _, want := range []string{"csv:1", `field 1 is "x"`, "csv:2", "the row has 2 fields, expected 3", `the label is "0.5"`, `field 1 is "NaN"`} {
		require.ErrorContains(t, err, want)
	}
	for _, o := range []train.CSV{{Label: 5}, {Label: -4}} {
		_, _, err = train.ReadCSV(strings.NewReader("1,2\n"), o)
		require.ErrorContains(t, err, "of 2")
	}
	_, _, err = train.ReadCSV(strings.NewReader(""), train.CSV{})
	require.ErrorContains(t, err, "no rows")
	_, _, err = train.ReadCSVFile(filepath.Join(t.TempDir(), "none.csv"), train.CSV{})
	require.ErrorIs(t, err, train.BadCSV)
}

func TestTrainer_settings(t *testing.T) {
	var losses []float64
	_, tr := trainer(t, sgd, &losses)
	tr.Epochs, tr.UseAverage = 0, true
	tr.Stop, tr.Plateau = &train.EarlyStop{Metric: "test_acc"}, &train.Plateau{Metric: "losses", Factor: 2}
	_, err := tr.Fit(ctx, nil, nil)
	for _, want := range []string{"Epochs is 0", "the loader has no batches", "Eval and the loader of test batches go together", "UseAverage", `Stop looks at "test_acc", expected one of loss, accuracy, test_loss, test_accuracy`, `Plateau looks at "losses"`, "the factor of Plateau is 2"} {
		require.ErrorContains(t, err, want)
	}
	for _, model := range []any{nil, layers{}, (*layers)(nil)} {
		_, err := train.NewStep(ctx, model, newLayers(), sgd)
		require.ErrorIs(t, err, train.BadTrainer)
	}
	m := newLayers()
	_, err = train.NewStep(ctx, m, m, optim.Rule{Groups: []optim.Group{{Params: []string{"a.*", "b.*"}}}}, fx.Input("x", "f32[N,2]"))
	require.ErrorIs(t, err, optim.BadSetting)
	_, err = train.NewStep(ctx, m, nil, sgd)
	require.Error(t, err)
	_, err = train.NewStep(ctx, m, func(x *tensor.Tensor) {}, sgd, fx.Input("x", "f32[N,2]"))
	require.Error(t, err)
}
