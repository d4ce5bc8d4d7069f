package nets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Networks compute what their modules do, from one record.
func TestNetworks(t *testing.T) {
	ids := tensor.FromSlice([]int64{1, 5, 2}, 1, 3)
	image := tensor.Arange(3*32*32).Cast(array.F32).DivScalar(1000).Sin().Reshape(1, 3, 32, 32)
	small := models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 1, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12}
	for name, c := range map[string]struct {
		m  any
		in []*tensor.Tensor
	}{
		"resnet":     {models.NewResNet18(), []*tensor.Tensor{image}},
		"densenet":   {models.NewDenseNet121(), []*tensor.Tensor{image}},
		"bert":       {models.NewBert(small), []*tensor.Tensor{ids, ids.OnesLike()}},
		"encoder":    {nets.NewEncoder(small), []*tensor.Tensor{tensor.Ones(1, 3, 8)}},
		"deberta":    {nets.NewDeBERTa(small), []*tensor.Tensor{ids}},
		"align":      {nets.NewAlign(small), []*tensor.Tensor{ids, image}},
		"seq2seq":    {nets.NewSeq2Seq(8, 20, 4), []*tensor.Tensor{tensor.Ones(4, 8), tensor.Ones(1, 8)}},
		"monodepth":  {nets.NewMonoDepth(), []*tensor.Tensor{image}},
		"quantized":  {nets.NewQuantized(), []*tensor.Tensor{image}},
		"tridentnet": {nets.NewTridentNet(), []*tensor.Tensor{image}},
		"blockdrop":  {nets.NewBlockDrop(1), []*tensor.Tensor{image, tensor.FromSlice([]float32{1, 0, 1}, 1, 3)}},
		"lstm":       {models.NewLSTM(8, 2), []*tensor.Tensor{tensor.FromSlice(make([]float32, 5*8), 5, 1, 8)}},
	} {
		t.Run(name, func(t *testing.T) {
			models.Synthetic(&models.Model{}, c.m, "nets")
			f, err := nets.New(c.m, compile.Strict())
			require.NoError(t, err)
			want := nn.RunAll(c.m, c.in...)
			for range 3 {
				got := f.Call(c.in...)
				require.Len(t, got, len(want))
				for i := range want {
					require.True(t, got[i].Equal(want[i]))
				}
			}
			require.Equal(t, 1, f.Stats().Records)
			require.Equal(t, 1, f.Stats().Misses)
			require.Equal(t, 3, f.Stats().Hits+f.Stats().Captures, "a call that makes a list is captured twice")
			require.Positive(t, f.Stats().Hits)
			n, err := f.Comparisons()
			require.NoError(t, err)
			require.Positive(t, n)
		})
	}
	_, err := nets.New(nn.NewReLU())
	require.EqualError(t, err, "there is no compiled function of a *nn.ReLU")
}

// Every network of a paper is traced, has the compiled function that New finds, and says what its inputs are.
func TestPapers(t *testing.T) {
	ids := map[string]bool{}
	for _, p := range nets.Papers() {
		require.False(t, ids[p.ID], p.ID)
		ids[p.ID] = true
		m := p.Model.New()
		var o []fx.Option
		for _, v := range p.Model.Inputs {
			o = append(o, fx.Input(v.Name, v.Type))
		}
		_, err := fx.Trace(t.Context(), m, o...)
		require.NoError(t, err, p.ID)
		f, err := nets.New(m)
		require.NoError(t, err, p.ID)
		f.Close()
	}
	require.Len(t, ids, 11)
}

// A policy leaves blocks out: those of no weight do not change the scores, and others do.
func TestBlockDrop(t *testing.T) {
	m := nets.NewBlockDrop(1)
	models.Synthetic(&models.Model{}, m, "nets")
	x := tensor.Ones(1, 3, 32, 32)
	with := func(v ...float32) *tensor.Tensor { return m.Forward(x, tensor.FromSlice(v, 1, 3)) }
	none, first := with(0, 0, 0), with(1, 0, 0)
	require.False(t, none.Equal(first))
	m.Blocks[0].Conv1.Weight.MulScalarInPlace(2)
	require.True(t, none.Equal(with(0, 0, 0)))
	require.False(t, first.Equal(with(1, 0, 0)))
}
