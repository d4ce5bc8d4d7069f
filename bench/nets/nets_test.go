package nets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/nets"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Networks compute what their modules do, from one record.
func TestNetworks(t *testing.T) {
	ids := tensor.FromSlice([]int64{1, 5, 2}, 1, 3)
	image := tensor.FromSlice(make([]float32, 3*32*32), 1, 3, 32, 32)
	for name, c := range map[string]struct {
		m  any
		in []*tensor.Tensor
	}{
		"resnet":   {models.NewResNet18(), []*tensor.Tensor{image}},
		"densenet": {models.NewDenseNet121(), []*tensor.Tensor{image}},
		"bert": {models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 1, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12}),
			[]*tensor.Tensor{ids, ids.OnesLike()}},
		"lstm": {models.NewLSTM(8, 2), []*tensor.Tensor{tensor.FromSlice(make([]float32, 5*8), 5, 1, 8)}},
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
			require.Equal(t, 2, f.Stats().Hits)
			n, err := f.Comparisons()
			require.NoError(t, err)
			require.Positive(t, n)
		})
	}
	_, err := nets.New(nn.NewReLU())
	require.EqualError(t, err, "there is no compiled function of a *nn.ReLU")
}
