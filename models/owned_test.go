package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// Networks own the arrays of their parameters, with synthetic weights, too.
func TestNetworksOwnTheirArrays(t *testing.T) {
	bert := models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 1, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12}
	llama := models.LlamaConfig{VocabSize: 30, MaxPositions: 12, Width: 8, Inner: 16, NumLayers: 1, NumHeads: 2, NumKVHeads: 1, HeadDim: 4, RMSNormEps: 1e-6, Rotary: models.LlamaRotary{Base: 10000, Dims: 4}}
	for name, m := range map[string]any{
		"mlp":       models.NewMLP(),
		"resnet18":  models.NewResNet18(),
		"mobilenet": models.NewMobileNetV3Large(),
		"unet":      models.NewUNet(),
		"lstm":      models.NewLSTM(8, 2),
		"dlrm":      models.NewDLRM([]int{3, 4, 5}),
		"ratings":   models.NewDeepRecommender(9),
		"vit":       models.NewViT(models.ViTConfig{ImageSize: 12, PatchSize: 4, Width: 8, NumLayers: 2, NumHeads: 2, MLPWidth: 16, NumClasses: 5}),
		"gpt2":      models.NewGPT2(models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}),
		"bert":      models.NewRobertaForMaskedLM(bert),
		"llama":     models.NewLlama(llama),
	} {
		all := nn.StateDict(m)
		require.NotEmpty(t, all)
		owned := func(when string) {
			for _, e := range all {
				require.Zero(t, e.Tensor.Value().(*array.Array).Storage().Exposed(), "%s %s %s", name, e.Name, when)
			}
		}
		owned("new")
		models.Synthetic(&models.Model{}, m, "owned")
		owned("with weights")
		require.NotEqual(t, 0.0, all[0].Tensor.Select(0, 0).Abs().Max().Item(), name)
	}
}
