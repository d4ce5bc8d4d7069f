package nn_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// TestPortedModules compares modules with PyTorch's of the same weights, by their names in PyTorch;
// testdata/ported.py writes the file.
func TestPortedModules(t *testing.T) {
	f, err := weights.Open("testdata/ported.pt")
	require.NoError(t, err)
	const e, h = 8, 2
	small := nn.Feedforward(12)
	for name, m := range map[string]any{
		"encoder_layer":       nn.NewTransformerEncoderLayer(e, h, small),
		"encoder_layer_first": nn.NewTransformerEncoderLayer(e, h, small, nn.NormFirst(), nn.Activation(nn.NewGELU()), nn.BatchFirst()),
		"encoder":             nn.NewTransformerEncoder(2, e, h, small, nn.Eps(1e-3), nn.FinalNorm()),
		"decoder_layer":       nn.NewTransformerDecoderLayer(e, h, small),
		"decoder":             nn.NewTransformerDecoder(2, e, h, small, nn.NormFirst(), nn.FinalNorm()),
		"cosine":              nn.NewCosineSimilarity(1),
		"cosine_last":         nn.NewCosineSimilarity(-1),
		"pairwise":            nn.NewPairwiseDistance(2),
		"pairwise_l1":         &nn.PairwiseDistance{P: 1, Eps: 1e-6, KeepDim: true},
		"softshrink":          nn.NewSoftshrink(0.5),
		"hardshrink":          nn.NewHardshrink(0.5),
		"tanhshrink":          nn.NewTanhshrink(),
		"unpool1d":            nn.NewMaxUnpool1d(2),
		"unpool2d":            nn.NewMaxUnpool2d(3, nn.Stride(2), nn.Padding(1)),
		"unpool3d":            nn.NewMaxUnpool3d(2),
	} {
		t.Run(name, func(t *testing.T) {
			state, in := nn.Arrays{}, inputs(m)
			var want *tensor.Tensor
			for _, n := range f.Names() {
				rest, ok := strings.CutPrefix(n, name+"/")
				if !ok {
					continue
				}
				a, err := f.Get(n)
				require.NoError(t, err)
				kind, key, _ := strings.Cut(rest, "/")
				switch kind {
				case "w":
					state[key] = a
				case "in":
					i, err := strconv.Atoi(key)
					require.NoError(t, err)
					in[i] = tensor.New(a)
				case "out":
					want = tensor.New(a)
				}
			}
			if len(state) > 0 {
				require.NoError(t, nn.LoadStateDict(m, state))
			}
			got := nn.Run(m, in...)
			require.Equal(t, want.Shape(), got.Shape())
			require.InDeltaSlice(t, values(want), values(got), 2e-6)
		})
	}
}

// inputs makes room for what Forward takes.
func inputs(m any) []*tensor.Tensor {
	switch m.(type) {
	case *nn.TransformerDecoder, *nn.TransformerDecoderLayer:
		return make([]*tensor.Tensor, 6)
	case *nn.TransformerEncoder, *nn.TransformerEncoderLayer:
		return make([]*tensor.Tensor, 3)
	case nn.Module:
		return make([]*tensor.Tensor, 1)
	}
	return make([]*tensor.Tensor, 2)
}

// Steps of one position and of several give what Forward with a causal mask gives.
func TestTransformerDecoder_stepsEqualForward(t *testing.T) {
	for _, batchFirst := range []bool{false, true} {
		opts := []nn.TransformerOption{nn.Feedforward(12), nn.Seed(4)}
		axis := 0
		if batchFirst {
			opts, axis = append(opts, nn.BatchFirst()), 1
		}
		m := nn.NewTransformerDecoder(2, 8, 2, opts...)
		tgt, memory := filled(4, 2, 8), filled(3, 2, 8).MulScalar(0.5)
		if batchFirst {
			tgt, memory = tgt.Transpose(0, 1), memory.Transpose(0, 1)
		}
		later := tensor.Ones(4, 4).Triu(1).Cast(array.Bool)
		padding := tensor.FromSlice([]bool{false, false, true, false, true, false}, 2, 3)
		want := values(m.Forward(tgt, memory, later, nil, nil, padding))

		var got []*tensor.Tensor
		var cache []*tensor.Tensor
		for _, part := range [][2]int{{0, 2}, {2, 1}, {3, 1}} {
			var y *tensor.Tensor
			y, cache = m.Step(tgt.Narrow(axis, part[0], part[1]), memory, padding, cache)
			got, memory = append(got, y), nil
		}
		require.InDeltaSlice(t, want, values(tensor.Cat(got, axis)), 1e-5)
		require.Panics(t, func() { m.Step(tgt, memory, padding, cache[:3]) })
	}
}

func TestTransformer_layersDiffer(t *testing.T) {
	m := nn.NewTransformerEncoder(2, 8, 2, nn.Feedforward(4))
	require.NotEqual(t, values(m.Layers[0].Linear1.Weight), values(m.Layers[1].Linear1.Weight))
	require.NotEqual(t, values(m.Layers[0].SelfAttn.InProjWeight), values(m.Layers[1].SelfAttn.InProjWeight))
}

// In training all dropouts of PyTorch's layers drop, each something else; in evaluation none does.
func TestTransformer_drops(t *testing.T) {
	m := nn.NewTransformerEncoder(1, 8, 2, nn.Feedforward(4), nn.DropoutBetween(0.5, 3))
	x := filled(3, 2, 8)
	calm := values(m.Forward(x, nil, nil))
	require.Equal(t, calm, values(nn.NewTransformerEncoder(1, 8, 2, nn.Feedforward(4)).Forward(x, nil, nil)))
	nn.Train(m)
	require.NotEqual(t, calm, values(m.Forward(x, nil, nil)))
	l := m.Layers[0]
	states := map[float64]bool{}
	for _, d := range []*nn.Dropout{l.Dropout, l.Dropout1, l.Dropout2, l.SelfAttn.AttnDropout} {
		require.True(t, d.Training)
		states[d.State.Item()] = true
	}
	require.Len(t, states, 4)
	require.Equal(t, nn.NumParameters(m), nn.NumParameters(nn.NewTransformerEncoder(1, 8, 2, nn.Feedforward(4))))
}

// AlphaDropout keeps mean 0 and variance 1, and drops to one value; channels drop as a whole.
func TestAlphaDropout(t *testing.T) {
	x := tensor.Randn(tensor.Scalar(int64(3)), 64, 32, 8)
	m := nn.NewAlphaDropout(0.3, nn.DropoutSeed(1))
	require.Equal(t, values(x), values(m.Forward(x)))
	nn.Train(m)
	y := values(m.Forward(x))
	var sum, square float64
	count := map[float64]int{}
	for _, v := range y {
		sum, square = sum+v, square+v*v
		count[v]++
	}
	n := float64(len(y))
	require.InDelta(t, 0, sum/n, 0.05)
	require.InDelta(t, 1, square/n, 0.1)
	most := 0
	for _, c := range count {
		most = max(most, c)
	}
	require.InDelta(t, 0.3, float64(most)/n, 0.02)

	f := nn.NewFeatureAlphaDropout(0.3, nn.DropoutSeed(1))
	nn.Train(f)
	z := values(f.Forward(tensor.Ones(64, 32, 8)))
	for i := 0; i < len(z); i += 8 {
		for _, v := range z[i : i+8] {
			require.Equal(t, z[i], v)
		}
	}
	nothing := nn.NewAlphaDropout(1, nn.DropoutSeed(1))
	nn.Train(nothing)
	require.Equal(t, make([]float64, 4), values(nothing.Forward(tensor.Ones(4))))
}
