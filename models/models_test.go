package models_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

const seed = "gofx-1"

// each runs a subtest for every network; the large ones only in the slow tier.
func each(t *testing.T, f func(t *testing.T, m *models.Model, ref *fxtest.Fixture)) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, m.Name)
			ref.SkipLarge(t)
			f(t, m, ref)
		})
	}
}

func TestOutputsEqualTheReference(t *testing.T) {
	each(t, func(t *testing.T, m *models.Model, ref *fxtest.Fixture) {
		module := m.New()
		models.Synthetic(m, module, seed)
		in, err := m.SyntheticInputs(seed)
		require.NoError(t, err)
		out := nn.RunAll(module, in...)
		require.Len(t, out, len(m.Outputs))
		got := make([]*array.Array, len(out))
		for i, x := range out {
			require.Equal(t, ref.Outputs[i].Name, m.Outputs[i])
			got[i] = x.Array()
		}
		ref.Check(t, got)
	})
}

func TestParametersAreTheReference(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, m.Name)
			module := m.New()
			var names, want []string
			for _, e := range nn.StateDict(module) {
				names = append(names, e.Name)
			}
			for _, p := range ref.Parameters {
				want = append(want, p.Name)
			}
			require.Equal(t, want, names)
			for i, e := range nn.StateDict(module) {
				require.Equal(t, len(ref.Parameters[i].Shape), len(e.Tensor.Shape()), e.Name)
				require.Equal(t, append([]int{}, ref.Parameters[i].Shape...), append([]int{}, e.Tensor.Shape()...), e.Name)
			}
			require.Equal(t, ref.NumParameters, nn.NumParameters(module))
			require.Equal(t, ref.Seed, seed)
			require.Len(t, m.Multipliers, len(ref.Multipliers))
			for i, f := range ref.Multipliers {
				require.Equal(t, f[0], m.Multipliers[i].Name.String())
				require.Equal(t, f[1], m.Multipliers[i].Factor)
			}
		})
	}
}

func TestSyntheticWeightsHaveTheReferenceHash(t *testing.T) {
	each(t, func(t *testing.T, m *models.Model, ref *fxtest.Fixture) {
		module := m.New()
		models.Synthetic(m, module, seed)
		h := sha256.New()
		for i, e := range nn.StateDict(module) {
			if ref.Parameters[i].Rule != "zero" {
				h.Write(array.Bytes(e.Tensor.Array()))
			}
		}
		require.Equal(t, ref.WeightsSHA256, hex.EncodeToString(h.Sum(nil)))
	})
}

func TestSyntheticInputsAreTheReference(t *testing.T) {
	for _, m := range models.All() {
		t.Run(m.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, m.Name)
			in, err := m.SyntheticInputs(seed)
			require.NoError(t, err)
			require.Len(t, in, len(ref.Inputs))
			for i, r := range ref.Inputs {
				require.Equal(t, r.Name, m.Inputs[i].Name)
				require.Equal(t, r.Shape, in[i].Shape())
				for k, v := range append(r.Values, r.First...) {
					require.InDelta(t, v, array.Float64At(in[i].Array(), k), 1e-8)
				}
			}
		})
	}
}

// TestStages runs the parts of ResNet-18 one by one, which finds the first that
// departs from the reference.
func TestStages(t *testing.T) {
	ref := fxtest.LoadFixture(t, "resnet18")
	m := models.NewResNet18()
	models.Synthetic(models.Lookup("resnet18"), m, seed)
	in, err := models.Lookup("resnet18").SyntheticInputs(seed)
	require.NoError(t, err)
	x := m.Maxpool.Forward(m.Relu.Forward(m.Bn1.Forward(m.Conv1.Forward(in[0]))))
	outs := []*tensor.Tensor{x}
	for _, f := range []nn.Module{m.Layer1, m.Layer2, m.Layer3, m.Layer4, m.Avgpool} {
		x = nn.Run(f, x)
		outs = append(outs, x)
	}
	require.Len(t, ref.Stages, len(outs))
	for i, s := range ref.Stages {
		require.Empty(t, s.Diverges(outs[i].Array(), 1e-4))
	}
}

func TestFormula(t *testing.T) {
	for _, c := range []struct {
		name  string
		owner any
		leaf  string
		shape []int
		i     int
		key   uint64
		u     float64
		want  float32
	}{
		{"conv1.weight", nil, "weight", []int{64, 3, 7, 7}, 0, 0x239b0b75011f2359, 0.5738125187742735, 0.029824762},
		{"fc.weight", nil, "weight", []int{1000, 512}, 511999, 0x374910007824dfaf, 0.24997581999189833, -0.038276978},
		{"bn1.weight", &nn.BatchNorm2d{}, "weight", []int{64}, 1, 0xbcc0a2f13787bbcf, 0.5709692932387606, 1.0354847},
		{"bn1.bias", &nn.BatchNorm2d{}, "bias", []int{64}, 2, 0xe432952653f9a1da, 0.3492854548255575, -0.030142909},
		{"bn1.running_mean", &nn.BatchNorm2d{}, "running_mean", []int{64}, 3, 0x5bb80371af2a7cea, 0.013135186604666504, -0.097372964},
		{"bn1.running_var", &nn.BatchNorm2d{}, "running_var", []int{64}, 63, 0xb9a5fc5105580c7c, 0.10422011097512962, 0.6042201},
		{"embeddings.word_embeddings.weight", &nn.Embedding{}, "weight", []int{30522, 768}, 12345678, 0x454c5cdc7d5c3f43, 0.501676712641019, 0.00029041516},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := models.NewStream(seed, c.name)
			require.Equal(t, c.key, uint64(s))
			require.Equal(t, c.u, s.At(c.i))
			rule := models.RuleOf(c.owner, c.leaf, len(c.shape))
			require.Equal(t, c.want, models.ValueOf(rule, c.u, c.shape))
		})
	}
	x := models.NewStream(seed, "input/x")
	require.Equal(t, uint64(0xef0928157a03e077), uint64(x))
	require.Equal(t, float32(0.087261245), float32(models.Uniform{}.Value(x.At(150527), nil, nil)))
	ids := models.NewStream(seed, "input/input_ids")
	require.Equal(t, 1925.0, models.Integers{High: 30522}.Value(ids.At(3), nil, nil))
}
