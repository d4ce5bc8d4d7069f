package codegen_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/internal/textdiff"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

// goText is the Go source of a generated package.
func goText(t *testing.T, net any, inputs ...models.InputSpec) string {
	t.Helper()
	m := traced(t, net, inputs...)
	fill(t, m)
	var all strings.Builder
	for _, f := range kernelFiles(t, m, codegen.KernelOptions{Weights: codegen.WeightsEmbed}).List {
		if strings.HasSuffix(f.Name, ".go") {
			all.Write(f.Data)
		}
	}
	return all.String()
}

// changed counts the lines that differ, those that replace others once.
func changed(before, after string) (lines int) {
	var gone, new int
	for _, e := range append(textdiff.Edits(before, after), textdiff.Edit{Op: ' '}) {
		switch e.Op {
		case '-':
			gone++
		case '+':
			new++
		default:
			lines += max(gone, new)
			gone, new = 0, 0
		}
	}
	return lines
}

// TestALayerMoreChangesItsLines adds a layer to transformers of four.
func TestALayerMoreChangesItsLines(t *testing.T) {
	ids := models.InputSpec{Name: "ids", Type: "i64[N,S]"}
	mask := models.InputSpec{Name: "mask", Type: "i64[N,S]"}
	for name, gen := range map[string]func(layers int) string{
		"encoder": func(n int) string { return goText(t, newEncoder(n, n), encoderSpec("f32[N,S,16]")) },
		"gpt2": func(n int) string {
			return goText(t, models.NewGPT2(models.GPT2Config{VocabSize: 50, MaxPositions: 32, Width: 16, NumLayers: n, NumHeads: 2, LayerNormEps: 1e-5}), ids)
		},
		"bert": func(n int) string {
			return goText(t, models.NewBert(models.BertConfig{VocabSize: 50, MaxPositions: 32, TypeVocabSize: 2, HiddenSize: 16, NumLayers: n, NumHeads: 2,
				IntermediateSize: 32, LayerNormEps: 1e-12}), ids, mask)
		},
	} {
		before, after := gen(4), gen(5)
		require.LessOrEqual(t, changed(before, after), 12, "%s\n%s", name, textdiff.Unified("4", "5", before, after))
	}
}

// TestAnActivationChangesItsLines replaces the activation of all layers.
func TestAnActivationChangesItsLines(t *testing.T) {
	gen := func(act func(*tensor.Tensor) *tensor.Tensor) string {
		e := newEncoder(4, 4)
		for _, l := range e.Layers {
			l.act = act
		}
		return goText(t, e, encoderSpec("f32[N,S,16]"))
	}
	gelu := func(x *tensor.Tensor) *tensor.Tensor { return tensor.Gelu(x) }
	acts := []func(*tensor.Tensor) *tensor.Tensor{tensor.Silu, tensor.Relu, tensor.Tanh, gelu}
	for i := range acts {
		for j := range acts {
			before, after := gen(acts[i]), gen(acts[j])
			require.LessOrEqual(t, changed(before, after), 12, "%s", textdiff.Unified("before", "after", before, after))
		}
	}
}
