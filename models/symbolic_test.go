package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// relatives are small relatives of networks whose inputs have more symbols than
// the batch, and networks that are small themselves, with sizes that one graph serves.
func relatives() []*models.Model {
	ids := func(high int) models.InputSpec {
		return models.InputSpec{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: high}}
	}
	mask := models.InputSpec{Name: "attention_mask", Type: "i64[N,S]", Rule: models.Below{P: 0.8}}
	return []*models.Model{
		{Name: "bert", Inputs: []models.InputSpec{ids(30), mask}, New: func() any {
			return models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
		}},
		{Name: "gpt2", Inputs: []models.InputSpec{ids(40)}, New: func() any {
			return models.NewGPT2(models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5})
		}},
		{Name: "vit", Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,3,12,12]", Rule: models.Uniform{}}}, New: func() any {
			return models.NewViT(models.ViTConfig{ImageSize: 12, PatchSize: 4, Width: 8, NumLayers: 2, NumHeads: 2, MLPWidth: 16, NumClasses: 5})
		}},
		{Name: "lstm", Inputs: []models.InputSpec{{Name: "x", Type: "f32[S,N,8]", Rule: models.Uniform{}}}, New: func() any { return models.NewLSTM(8, 3) }},
		{Name: "deep_recommender", Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,40]", Rule: models.Ratings{}}}, New: func() any { return models.NewDeepRecommender(40) }},
		models.Lookup("dlrm"),
	}
}

func TestOneTraceServesAllSizes(t *testing.T) {
	sizes := []map[string]int{{"N": 1, "S": 1}, {"N": 3, "S": 5}, {"N": 2, "S": 12}}
	for _, m := range relatives() {
		t.Run(m.Name, func(t *testing.T) { servesAll(t, m, sizes...) })
	}
	// Two pooled and enlarged maps are joined with a third, which guards see to.
	t.Run("unet", func(t *testing.T) {
		servesAll(t, models.Lookup("unet"), map[string]int{"N": 1, "H": 8, "W": 8}, map[string]int{"N": 2, "H": 24, "W": 16})
	})
}

// servesAll captures a network once and compares the graph with the network on
// each choice of sizes.
func servesAll(t *testing.T, m *models.Model, sizes ...map[string]int) {
	module := m.New()
	models.Synthetic(m, module, seed)
	mod := tracedModule(t, m, module)
	require.Empty(t, graph.Lint(mod.Graph))
	require.Empty(t, mod.Graph.Specialisations(), "no size is fixed")
	run := &interp.Interpreter{State: interp.NewState(mod)}
	for _, dims := range sizes {
		sized := *m
		sized.Dims = dims
		in, err := sized.SyntheticInputs(seed)
		require.NoError(t, err)
		want := nn.RunAll(module, in...)
		got, err := run.Run(context.Background(), in...)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.True(t, want[i].Equal(got[i]), "output %d of %v", i, dims)
		}
	}
}

// TestUNetRefusesOddSizes holds that an image that cannot be halved three times is
// refused at entry, with the line of the model that needs it.
func TestUNetRefusesOddSizes(t *testing.T) {
	m := models.Lookup("unet")
	run := &interp.Interpreter{State: interp.NewState(traced(t, m))}
	_, err := run.Run(context.Background(), tensor.Zeros(1, 3, 16, 20))
	require.ErrorContains(t, err, "cat needs W//4 (here 5) equal to 2*(W//8) (here 4)")
	require.ErrorContains(t, err, "unet.go")
}

// TestParametersAreRead checks that a captured network reads exactly the tensors
// of the state dict that its Forward uses.
func TestParametersAreRead(t *testing.T) {
	m := models.Lookup("resnet18")
	mod := traced(t, m)
	var read []string
	for n := range mod.Graph.Nodes() {
		if n.Opcode() == graph.CallModule {
			if b := mod.Bound(n.Target()); b != nil {
				for _, p := range b.Params {
					if p != "" {
						read = append(read, p)
					}
				}
			}
		}
	}
	var want []string
	for _, e := range nn.StateDict(m.New()) {
		if e.Tensor.Rank() > 0 { // num_batches_tracked is not read in evaluation mode
			want = append(want, e.Name)
		}
	}
	require.ElementsMatch(t, want, read)
}
