package models_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
)

// optimised returns a captured module after the default pipeline, in which every
// layer must have become one call of attention.
func optimised(t *testing.T, m *models.Model, module any, layers int) *fx.GraphModule {
	t.Helper()
	var opts []fx.Option
	for _, in := range m.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	gm, err := fx.Trace(context.Background(), module, opts...)
	require.NoError(t, err)
	r, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	count := 0
	for n := range gm.Graph.Calls(std.ScaledDotProductAttention) {
		count++
		require.Equal(t, m.Name == "gpt2", n.Attrs().(std.AttentionAttrs).IsCausal)
	}
	require.Equal(t, layers, count, r.Explain())
	require.Zero(t, len(gm.Graph.Specialisations()))
	return gm
}

// TestAttentionIsRecognised captures the text networks with symbolic sizes.
func TestAttentionIsRecognised(t *testing.T) {
	for _, name := range []string{"bert_base", "gpt2"} {
		t.Run(name, func(t *testing.T) {
			m := models.Lookup(name)
			optimised(t, m, m.New(), 12)
		})
	}
}

// A decoder's mask has more columns than rows, and keeps something in each.
func TestAttentionOfDecoderIsRecognised(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 3, NumHeads: 2, LayerNormEps: 1e-5}
	gm, err := fx.Trace(context.Background(), models.NewGPT2Decoder(c), decoderInputs(c)...)
	require.NoError(t, err)
	r, err := gm.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	require.Len(t, slices.Collect(gm.Graph.Calls(std.ScaledDotProductAttention)), 3, r.Explain())
	require.Len(t, slices.Collect(gm.Graph.Calls(std.LogicalNot)), 1, "the layers share their mask")
}

// TestRecognisedAttentionAgrees compares with the reference, in the slow tier.
func TestRecognisedAttentionAgrees(t *testing.T) {
	for _, name := range []string{"bert_base", "gpt2"} {
		t.Run(name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, name)
			fxtest.Nightly(t)
			m := models.Lookup(name)
			module := m.New()
			models.Synthetic(m, module, seed)
			in, err := m.SyntheticInputs(seed)
			require.NoError(t, err)
			out, err := optimised(t, m, module, 12).Run(context.Background(), in...)
			require.NoError(t, err)
			got := make([]*array.Array, len(out))
			for i, x := range out {
				got[i] = x.Array()
			}
			ref.Check(t, got)
		})
	}
}
