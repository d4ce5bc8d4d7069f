package gpu_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
)

// smallBert and smallGPT2 are networks of text with two layers.
var (
	smallBert = &models.Model{Name: "bert", Dims: map[string]int{"N": 2, "S": 11},
		Inputs: []models.InputSpec{
			{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: 30}},
			{Name: "attention_mask", Type: "i64[N,S]", Rule: models.Below{P: 0.8}},
		},
		New: func() any {
			return models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
		}}
	smallGPT2 = &models.Model{Name: "gpt2", Dims: map[string]int{"N": 2, "S": 9},
		Inputs: []models.InputSpec{{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: 40}}},
		New: func() any {
			return models.NewGPT2(models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5})
		}}
)

// optimised captures a network and recognises operators in it.
func optimised(t testing.TB, model *models.Model) (*graph.Module, []*array.Array) {
	t.Helper()
	module := model.New()
	models.Synthetic(model, module, "gofx-1")
	var opts []fx.Option
	for _, in := range model.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	gm, err := fx.Trace(ctx, module, opts...)
	require.NoError(t, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	x, err := model.SyntheticInputs("gofx-1")
	require.NoError(t, err)
	in := make([]*array.Array, len(x))
	for i := range x {
		in[i] = x[i].Array()
	}
	return gm.Module, in
}

// TestAttentionOfNetworks: every layer of a network of text has one kernel of attention and no
// softmax, once the passes have recognised it.
func TestAttentionOfNetworks(t *testing.T) {
	fake, _ := onCUDA(t)
	targets := map[string]func() gpu.Target{
		"alone": func() gpu.Target {
			return gpu.Target{Device: run.NewDevice(processor{run.Driver(fake.Device)}), Cache: "-"}
		},
		"groups": func() gpu.Target { return fake },
		"pocl":   func() gpu.Target { return target(t) },
	}
	for name, of := range targets {
		for _, model := range []*models.Model{smallBert, smallGPT2} {
			t.Run(model.Name+" "+name, func(t *testing.T) {
				if name == "pocl" {
					fxtest.Nightly(t)
				}
				g := of()
				plain, in := traced(t, model)
				want := interpreted(t, plain, in...)
				m, _ := optimised(t, model)
				e := compile(t, g, m)
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				fxtest.Close(t, model.Name, want, got)
				steps := gpu.Steps(e)
				require.NotContains(t, steps, std.Softmax.Name)
				attentions := slices.DeleteFunc(steps, func(s string) bool { return s != std.ScaledDotProductAttention.Name })
				kernels := 3 // keys and values are laid out
				if name == "groups" {
					kernels = 1
				}
				require.Len(t, attentions, 2*kernels)
			})
		}
	}
}

// TestRecognisedModelsEqualTheFixtures runs the networks of text with kernels of attention.
func TestRecognisedModelsEqualTheFixtures(t *testing.T) {
	g := target(t)
	for _, name := range []string{"bert_base", "gpt2"} {
		t.Run(name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, name)
			fxtest.Nightly(t)
			m, in := optimised(t, models.Lookup(name))
			e := compile(t, g, m)
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			ref.Check(t, got)
			require.NotContains(t, gpu.Steps(e), std.Softmax.Name)
		})
	}
}
