package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// cut makes a configuration small, with its padding and number of types.
func cut(c models.BertConfig) models.BertConfig {
	c.VocabSize, c.MaxPositions, c.HiddenSize, c.NumLayers, c.NumHeads, c.IntermediateSize = 50, 24, 16, 2, 2, 32
	return c
}

// The heads run in eager code, in a session and in a trace, with the same bits.
func TestHeadsRunInEveryEngine(t *testing.T) {
	ids := tensor.FromSlice([]int64{0, 7, 9, 30, 2, 1, 0, 12, 3, 4, 5, 2}, 2, 6)
	mask := tensor.FromSlice([]int64{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1}, 2, 6)
	for name, m := range map[string]any{
		"bert_large classification":   models.NewBertForSequenceClassification(cut(models.BertLarge), 3),
		"bert_large question answers": models.NewBertForQuestionAnswering(cut(models.BertLarge)),
		"roberta_large fill-mask":     models.NewRobertaForMaskedLM(cut(models.RobertaLarge)),
	} {
		t.Run(name, func(t *testing.T) {
			models.Synthetic(&models.Model{}, m, seed)
			want := nn.RunAll(m, ids, mask)
			gm, err := fx.Trace(context.Background(), m, fx.Input("input_ids", "i64[N,S]"), fx.Input("attention_mask", "i64[N,S]"))
			require.NoError(t, err)
			require.Empty(t, gm.Graph.Specialisations())
			traced, err := gm.Run(context.Background(), ids, mask)
			require.NoError(t, err)
			s := lazy.New(lazy.Options{Synchronous: true})
			defer s.Close()
			for range 5 {
				for i, y := range nn.RunAll(m, s.In(ids), s.In(mask)) {
					require.True(t, array.Equal(want[i].Array(), y.Array()))
					require.True(t, array.Equal(want[i].Array(), traced[i].Array()))
				}
			}
			require.Positive(t, s.Stats().Hits)
		})
	}
}

// What stands for padding changes no other token: RoBERTa counts positions of text alone.
func TestRobertaPadding(t *testing.T) {
	m := models.NewRobertaForMaskedLM(cut(models.RobertaLarge))
	models.Synthetic(&models.Model{}, m, seed)
	text := tensor.FromSlice([]int64{0, 7, 9, 2}, 1, 4)
	want := m.Forward(text, text.OnesLike())
	for name, c := range map[string]struct {
		ids  []int64
		mask []int64
		at   int
	}{
		"after":  {[]int64{0, 7, 9, 2, 1, 1}, []int64{1, 1, 1, 1, 0, 0}, 0},
		"before": {[]int64{1, 1, 0, 7, 9, 2}, []int64{0, 0, 1, 1, 1, 1}, 2},
	} {
		got := m.Forward(tensor.FromSlice(c.ids, 1, 6), tensor.FromSlice(c.mask, 1, 6)).Narrow(1, c.at, 4)
		for i := range want.Array().Len() {
			require.InDelta(t, want.Reshape(-1).At(i).Item(), got.Reshape(-1).At(i).Item(), 1e-5, name)
		}
	}
}

// The sizes of the large models, as published.
func TestLargeSizes(t *testing.T) {
	for _, c := range []struct {
		models.BertConfig
		want int
	}{{models.BertBase, 109482240}, {models.BertLarge, 335141888}, {models.RobertaLarge, 355359744}} {
		two := c.BertConfig
		two.NumLayers = 1
		one := nn.NumParameters(models.NewBert(two))
		two.NumLayers = 2
		layer := nn.NumParameters(models.NewBert(two)) - one
		require.Equal(t, c.want, one+(c.NumLayers-1)*layer)
	}
}
