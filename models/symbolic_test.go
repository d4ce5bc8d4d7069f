package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tracer"
)

// TestOneTraceServesAllSizes captures small relatives of the text networks with
// symbolic batch and length and runs the graph on several sizes.
func TestOneTraceServesAllSizes(t *testing.T) {
	ids := func(high int) models.InputSpec {
		return models.InputSpec{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: high}}
	}
	mask := models.InputSpec{Name: "attention_mask", Type: "i64[N,S]", Rule: models.Below{P: 0.8}}
	for _, m := range []*models.Model{
		{Name: "bert", Inputs: []models.InputSpec{ids(30), mask}, New: func() any {
			return models.NewBert(models.BertConfig{VocabSize: 30, MaxPositions: 12, TypeVocabSize: 2, HiddenSize: 8, NumLayers: 2, NumHeads: 2, IntermediateSize: 16, LayerNormEps: 1e-12})
		}},
		{Name: "gpt2", Inputs: []models.InputSpec{ids(40)}, New: func() any {
			return models.NewGPT2(models.GPT2Config{VocabSize: 40, MaxPositions: 12, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5})
		}},
	} {
		t.Run(m.Name, func(t *testing.T) {
			module := m.New()
			models.Synthetic(m, module, seed)
			p := tracer.Tracer{}
			for _, in := range m.Inputs {
				p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
			}
			mod, err := p.Trace(context.Background(), module)
			require.NoError(t, err)
			require.Empty(t, graph.Lint(mod.Graph))
			require.Empty(t, mod.Graph.Specialisations(), "no size is fixed")
			run := &interp.Interpreter{State: interp.NewState(mod)}
			for _, m.Dims = range []map[string]int{{"N": 1, "S": 1}, {"N": 3, "S": 5}, {"N": 2, "S": 12}} {
				in, err := m.SyntheticInputs(seed)
				require.NoError(t, err)
				want := nn.RunAll(module, in...)
				got, err := run.Run(context.Background(), in...)
				require.NoError(t, err)
				require.Len(t, got, len(want))
				for i := range want {
					require.True(t, want[i].Equal(got[i]), "output %d of %v", i, m.Dims)
				}
			}
		})
	}
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
