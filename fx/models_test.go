package fx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/shape"
)

// TestPasses_onNetworks runs every built-in pass in turn on small networks of
// the zoo; each must keep the graph's results, every type and every symbol.
func TestPasses_onNetworks(t *testing.T) {
	for name, c := range map[string]struct {
		net    any
		inputs []fx.Option
		sizes  map[string]int
	}{
		"mlp":      {models.NewMLP(), []fx.Option{fx.Input("x", "f32[N,784]")}, nil},
		"resnet18": {models.NewResNet18(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 33, "W": 33}},
		"bert": {models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 9, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12}),
			[]fx.Option{fx.Input("ids", "i64[N,S]"), fx.Input("mask", "i64[N,S]")}, map[string]int{"N": 2, "S": 5}},
		"gpt2": {models.NewGPT2(models.GPT2Config{VocabSize: 30, MaxPositions: 9, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}),
			[]fx.Option{fx.Input("ids", "i64[N,S]")}, map[string]int{"N": 2, "S": 5}},
		"gpt2 decoder": {models.NewGPT2Decoder(models.GPT2Config{VocabSize: 30, MaxPositions: 9, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}),
			[]fx.Option{fx.Input("ids", "i64[N,S]"), fx.Input("past", "f32[P,2,2,N,2,4]")}, map[string]int{"N": 2, "S": 3, "P": 4}},
		"vit": {models.NewViT(models.ViTConfig{ImageSize: 12, PatchSize: 4, Width: 8, NumLayers: 2, NumHeads: 2, MLPWidth: 16, NumClasses: 5}),
			[]fx.Option{fx.Input("x", "f32[N,3,12,12]")}, nil},
		"unet":               {models.NewUNet(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 16, "W": 24}},
		"squeezenet1_1":      {models.NewSqueezeNet11(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 40, "W": 37}},
		"densenet121":        {models.NewDenseNet121(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 33, "W": 40}},
		"mobilenet_v2":       {models.NewMobileNetV2(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 33, "W": 33}},
		"mobilenet_v3_large": {models.NewMobileNetV3Large(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 33, "W": 33}},
		"efficientnet_b0":    {models.NewEfficientNetB0(), []fx.Option{fx.Input("x", "f32[N,3,H,W]")}, map[string]int{"N": 1, "H": 33, "W": 33}},
		"learning_to_paint":  {models.NewPainter(), []fx.Option{fx.Input("x", "f32[N,9,128,128]")}, map[string]int{"N": 1}},
		"lstm":               {models.NewLSTM(8, 2), []fx.Option{fx.Input("x", "f32[T,N,8]")}, map[string]int{"T": 3, "N": 2}},
		"deep_recommender":   {models.NewDeepRecommender(40), []fx.Option{fx.Input("x", "f32[N,40]")}, nil},
		"dlrm":               {models.NewDLRM([]int{5, 7}), []fx.Option{fx.Input("dense", "f32[N,13]"), fx.Input("sparse", "i64[N,2,3]")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			nn.Eval(c.net)
			models.Synthetic(&models.Model{}, c.net, "passes") // zeros would hide the error of a pass
			gm, err := fx.Trace(context.Background(), c.net, c.inputs...)
			require.NoError(t, err)
			symbols := len(gm.Graph.Symbols())
			_, err = gm.Apply(context.Background(), fx.Passes(), fx.PassOptions{
				Numeric: &passes.Numeric{Sizes: c.sizes, Rel: 1e-4, Abs: 1e-4},
				OnPass: func(r passes.PassReport, m *graph.Module) {
					require.GreaterOrEqual(t, len(m.Graph.Symbols()), symbols, r.Name)
					for n := range m.Graph.All() {
						require.NotEqual(t, shape.None, n.Type().Kind(), "%s: %s has no type", r.Name, n)
						if n.Opcode().IsCall() {
							require.NotEmpty(t, n.Pos().File, "%s: %s has no position", r.Name, n)
						}
					}
				}})
			require.NoError(t, err)
			require.Nil(t, passes.Functional.Violation(gm.Graph))
			require.Nil(t, passes.Decomposed.Violation(gm.Graph))

			sizes := map[string]int{"N": 2}
			for name, n := range c.sizes {
				sizes[name] = n
			}
			_, err = gm.Apply(context.Background(), []fx.Pass{shapeprop.Specialize(sizes), shapeprop.Infer(nil)},
				fx.PassOptions{Numeric: &passes.Numeric{Sizes: sizes, Rel: 1e-4, Abs: 1e-4}})
			require.NoError(t, err)
			for n := range gm.Graph.All() {
				_, _, concrete := n.Type().Concrete()
				require.True(t, concrete || n.Type().Kind() == shape.Tuple, "%s: %s", n, n.Type())
			}
		})
	}
}
