package models_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tracer"
)

func traced(t *testing.T, m *models.Model) *graph.Module {
	t.Helper()
	return tracedModule(t, m, m.New())
}

func tracedModule(t *testing.T, m *models.Model, module any) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range m.Inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	mod, err := p.Trace(context.Background(), module)
	require.NoError(t, err)
	return mod
}

// spelt are the networks that are written in another way than the reference's
// source, and why.
var spelt = map[string]string{
	"efficientnet_b0":              "torchvision calls stochastic depth, which does nothing in inference",
	"efficientnet_b1":              "torchvision calls stochastic depth, which does nothing in inference",
	"vit_b_16":                     "attention is one module there",
	"bert_base":                    "masks and shapes are computed in more steps there",
	"gpt2":                         "masks and shapes are computed in more steps there",
	"lstm_10x256":                  "it is one module there, which has no trace",
	"dlrm":                         "the rows of each table are taken by slices there",
	"shufflenet_v2_x1_0":           "channels are shuffled by five calls there",
	"convnext_tiny":                "a norm of channels reads its weights by itself there, and torchvision calls stochastic depth",
	"swin_t":                       "windows are one function there",
	"tridentnet":                   "branches share functions there, not modules",
	"fcn_resnet50":                 "the size of the image is read by calls there",
	"deeplabv3_mobilenet_v3_large": "the size of the image is read by calls there",
	"monodepth_resnet18":           "padding is a call of its own there",
	"roberta_base":                 "masks and shapes are computed in more steps there",
	"bert_large":                   "masks and shapes are computed in more steps there",
	"roberta_large":                "masks and shapes are computed in more steps there",
	"distilbert":                   "masks and shapes are computed in more steps there",
	"align":                        "masks and shapes are computed in more steps there",
	"attn_decoder":                 "calls that are methods here are functions there",
	"quantized_resnet18":           "its code looks at values there, which has no trace",
	"blockdrop":                    "its code looks at values there, which has no trace",
	"lstm_cells":                   "it has no trace there",
	"gru_bidir":                    "it is one module there, which has no trace",
	"greedy_decoder":               "its code looks at values there, which has no trace",
	"wordseg":                      "its code looks at values there, which has no trace",
	"deberta_base":                 "it has no trace there",
}

func TestTraceHasThePublishedNodes(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			mod := traced(t, m)
			got := map[string]int{}
			for n := range mod.Graph.Nodes() {
				got[n.Opcode().String()]++
			}
			require.Equal(t, len(m.Inputs), got["placeholder"])
			require.Equal(t, 1, got["output"])
			ref := fxtest.LoadFixture(t, m.Name)
			got["calls"] = got["call_module"] + got["call_function"] + got["call_method"]
			if why := spelt[m.Name]; why != "" {
				require.NotEqual(t, ref.Nodes, got, "take it off the list: %s", why)
			} else {
				require.Equal(t, ref.Nodes, got)
			}
		})
	}
}
