package nn_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// cells is a loop over time and, inside it, over a stack of LSTM cells.
type cells struct{ Layers []*nn.LSTMCell }

func (m *cells) Forward(x *tensor.Tensor) (output, h, c *tensor.Tensor) {
	hs, cs := make([]*tensor.Tensor, len(m.Layers)), make([]*tensor.Tensor, len(m.Layers))
	var out []*tensor.Tensor
	for t := range x.Dim(0) {
		y := x.Select(0, t)
		for i, l := range m.Layers {
			hs[i], cs[i] = l.Forward(y, hs[i], cs[i])
			y = hs[i]
		}
		out = append(out, y)
	}
	last := len(m.Layers) - 1
	return tensor.Stack(out, 0), hs[last], cs[last]
}

// plain runs a GRU from zero states.
type plain struct {
	Rnn *nn.GRU `fx:"."`
}

func (m *plain) Forward(x *tensor.Tensor) (output, h *tensor.Tensor) { return m.Rnn.Forward(x, nil) }

// attnDecoder is one step of a decoder that attends to an encoder's outputs.
type attnDecoder struct {
	Embedding         *nn.Embedding
	Attn, AttnCombine *nn.Linear
	Gru               *nn.GRU
	Out               *nn.Linear
}

func (m *attnDecoder) Forward(token, hidden, encoder *tensor.Tensor) (logProbs, next, weights *tensor.Tensor) {
	e := m.Embedding.Forward(token).Select(0, 0)
	w := nn.NewSoftmax(-1).Forward(m.Attn.Forward(tensor.Cat([]*tensor.Tensor{e, hidden.Select(0, 0)}, -1)))
	y := m.AttnCombine.Forward(tensor.Cat([]*tensor.Tensor{e, w.Matmul(encoder)}, -1)).Relu()
	y, next = m.Gru.Forward(y.Unsqueeze(0), hidden)
	return nn.NewLogSoftmax(-1).Forward(m.Out.Forward(y.Select(0, 0))), next, w
}

func newCells() *cells {
	m := &cells{}
	for range 10 {
		m.Layers = append(m.Layers, nn.NewLSTMCell(256, 256, nn.NoInit()))
	}
	return m
}

// TestModulesEqualTheReference builds published networks of modules that package
// models does not use and compares their outputs with PyTorch's.
func TestModulesEqualTheReference(t *testing.T) {
	integers := models.Integers{High: 3797}
	for _, c := range []struct {
		name  string
		m     func() any
		rules []models.InputRule
	}{
		{name: "lstm_cells", m: func() any { return newCells() }},
		{name: "gru_bidir", m: func() any { return &plain{nn.NewGRU(64, 96, nn.NumLayers(2), nn.Bidirectional(), nn.BatchFirst())} }},
		{name: "attn_decoder", rules: []models.InputRule{integers, models.Uniform{}, models.Uniform{}}, m: func() any {
			return &attnDecoder{nn.NewEmbedding(3797, 256), nn.NewLinear(512, 50), nn.NewLinear(512, 256), nn.NewGRU(256, 256), nn.NewLinear(256, 3797)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, c.name)
			entry := &models.Model{Name: c.name}
			for _, f := range ref.Multipliers {
				entry.Multipliers = append(entry.Multipliers, models.Multiplier{Name: regexp.MustCompile(f[0].(string)), Factor: f[1].(float64)})
			}
			module := c.m()
			var want []string
			for _, p := range ref.Parameters {
				want = append(want, p.Name)
			}
			var got []string
			for _, e := range nn.StateDict(module) {
				got = append(got, e.Name)
			}
			require.ElementsMatch(t, want, got)
			require.Equal(t, ref.NumParameters, nn.NumParameters(module))
			models.Synthetic(entry, module, ref.Seed)
			var in []*tensor.Tensor
			for i, r := range ref.Inputs {
				d := map[string]string{"float32": "f32", "int64": "i64"}[r.DType]
				spec := models.InputSpec{Name: r.Name, Type: d + shape.ConstDims(r.Shape...).String(), Rule: models.Uniform{}}
				if c.rules != nil {
					spec.Rule = c.rules[i]
				}
				x, err := models.SyntheticInput(spec, ref.Seed, nil)
				require.NoError(t, err)
				in = append(in, x)
			}
			var out []*array.Array
			for _, x := range nn.RunAll(module, in...) {
				out = append(out, x.Array())
			}
			ref.Check(t, out)
		})
	}
}
