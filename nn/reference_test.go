package nn_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/fxtest"
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

// plain runs a recurrent module from zero states.
type plain struct {
	Rnn any `fx:"."`
}

func (m *plain) Forward(x *tensor.Tensor) []*tensor.Tensor {
	switch r := m.Rnn.(type) {
	case *nn.LSTM:
		out, h, c := r.Forward(x, nil, nil)
		return []*tensor.Tensor{out, h, c}
	case *nn.GRU:
		out, h := r.Forward(x, nil)
		return []*tensor.Tensor{out, h}
	}
	return nil
}

// double is two convolutions of 3 by 3, each normalised and rectified.
type double struct {
	Conv1 *nn.Conv2d
	Bn1   *nn.BatchNorm2d
	Conv2 *nn.Conv2d
	Bn2   *nn.BatchNorm2d
}

func newDouble(in, out int) *double {
	return &double{nn.NewConv2d(in, out, 3, nn.Padding(1), nn.NoBias()), nn.NewBatchNorm2d(out),
		nn.NewConv2d(out, out, 3, nn.Padding(1), nn.NoBias()), nn.NewBatchNorm2d(out)}
}

func (m *double) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Bn1.Forward(m.Conv1.Forward(x)).Relu()
	return m.Bn2.Forward(m.Conv2.Forward(x)).Relu()
}

type unet struct {
	Enc1, Enc2, Enc3, Mid *double
	Up3                   *nn.ConvTranspose2d
	Dec3                  *double
	Up2                   *nn.ConvTranspose2d
	Dec2                  *double
	Up1                   *nn.ConvTranspose2d
	Dec1                  *double
	Head                  *nn.Conv2d
}

func (m *unet) Forward(x *tensor.Tensor) *tensor.Tensor {
	pool := nn.NewMaxPool2d(2)
	e1 := m.Enc1.Forward(x)
	e2 := m.Enc2.Forward(pool.Forward(e1))
	e3 := m.Enc3.Forward(pool.Forward(e2))
	y := m.Mid.Forward(pool.Forward(e3))
	y = m.Dec3.Forward(tensor.Cat([]*tensor.Tensor{e3, m.Up3.Forward(y)}, 1))
	y = m.Dec2.Forward(tensor.Cat([]*tensor.Tensor{e2, m.Up2.Forward(y)}, 1))
	y = m.Dec1.Forward(tensor.Cat([]*tensor.Tensor{e1, m.Up1.Forward(y)}, 1))
	return m.Head.Forward(y)
}

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

// vit is a transformer on the patches of an image, as in torchvision.
type vit struct {
	ClassToken *tensor.Tensor
	ConvProj   *nn.Conv2d
	Encoder    *vitEncoder
	Heads      *nn.NamedSequential
}

type vitEncoder struct {
	PosEmbedding *tensor.Tensor
	Layers       *nn.NamedSequential
	Ln           *nn.LayerNorm
}

type vitBlock struct {
	Ln1           *nn.LayerNorm `fx:"ln_1"`
	SelfAttention *nn.MultiheadAttention
	Ln2           *nn.LayerNorm  `fx:"ln_2"`
	Mlp           *nn.Sequential `fx:"mlp"`
}

func (m *vitBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Ln1.Forward(x)
	x = x.Add(m.SelfAttention.Forward(y, y, y, nil, nil))
	return x.Add(nn.Run(m.Mlp, m.Ln2.Forward(x)))
}

func (m *vit) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.ConvProj.Forward(x).Flatten(2, 3).Transpose(1, 2)
	x = tensor.Cat([]*tensor.Tensor{m.ClassToken, x}, 1).Add(m.Encoder.PosEmbedding)
	x = m.Encoder.Ln.Forward(nn.Run(m.Encoder.Layers, x))
	return nn.Run(m.Heads, x.Select(1, 0))
}

func newVit() *vit {
	norm := func() *nn.LayerNorm { return nn.NewLayerNorm([]int{768}, nn.Eps(1e-6)) }
	layers := nn.NewNamedSequential()
	for i := range 12 {
		layers.Append("encoder_layer_"+strconv.Itoa(i), &vitBlock{norm(), nn.NewMultiheadAttention(768, 12, nn.BatchFirst(), nn.NoInit()), norm(),
			nn.NewSequential(nn.NewLinear(768, 3072, nn.NoInit()), nn.NewGELU(), nn.NewDropout(0), nn.NewLinear(3072, 768, nn.NoInit()))})
	}
	return &vit{
		ClassToken: tensor.Param(array.New(array.F32, 1, 1, 768)),
		ConvProj:   nn.NewConv2d(3, 768, 16, nn.Stride(16), nn.NoInit()),
		Encoder:    &vitEncoder{tensor.Param(array.New(array.F32, 1, 197, 768)), layers, norm()},
		Heads:      nn.NewNamedSequential(nn.Named("head", nn.NewLinear(768, 1000, nn.NoInit()))),
	}
}

func newCells() *cells {
	m := &cells{}
	for range 10 {
		m.Layers = append(m.Layers, nn.NewLSTMCell(256, 256, nn.NoInit()))
	}
	return m
}

func newUnet() *unet {
	up := func(in, out int) *nn.ConvTranspose2d { return nn.NewConvTranspose2d(in, out, 2, nn.Stride(2)) }
	return &unet{newDouble(3, 16), newDouble(16, 32), newDouble(32, 64), newDouble(64, 128),
		up(128, 64), newDouble(128, 64), up(64, 32), newDouble(64, 32), up(32, 16), newDouble(32, 16), nn.NewConv2d(16, 2, 1)}
}

// TestModulesEqualTheReference builds published networks of modules that package
// models does not use and compares their outputs with PyTorch's.
func TestModulesEqualTheReference(t *testing.T) {
	integers := models.Integers{High: 3797}
	for _, c := range []struct {
		name  string
		m     func() any
		rules []models.InputRule
		slow  bool
	}{
		{name: "lstm_10x256", m: func() any { return &plain{nn.NewLSTM(256, 256, nn.NumLayers(10))} }},
		{name: "lstm_cells", m: func() any { return newCells() }},
		{name: "gru_bidir", m: func() any { return &plain{nn.NewGRU(64, 96, nn.NumLayers(2), nn.Bidirectional(), nn.BatchFirst())} }},
		{name: "unet", m: func() any { return newUnet() }},
		{name: "attn_decoder", rules: []models.InputRule{integers, models.Uniform{}, models.Uniform{}}, m: func() any {
			return &attnDecoder{nn.NewEmbedding(3797, 256), nn.NewLinear(512, 50), nn.NewLinear(512, 256), nn.NewGRU(256, 256), nn.NewLinear(256, 3797)}
		}},
		{name: "vit_b_16", slow: true, m: func() any { return newVit() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, c.name)
			if c.slow {
				fxtest.Nightly(t)
			}
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
				spec := models.InputSpec{Name: r.Name, Type: d + shape.Ints(r.Shape...).String(), Rule: models.Uniform{}}
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
