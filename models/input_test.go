package models_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func TestInputRules(t *testing.T) {
	for _, c := range []struct {
		rule models.InputRule
		u    float64
		at   []int
		want float64
	}{
		{models.Uniform{}, 0.25, []int{0, 0}, -0.5},
		{models.Integers{High: 10}, 0.99, []int{0, 0}, 9},
		{models.IntegersBy{Axis: 1, High: []int{2, 100}}, 0.5, []int{0, 1}, 50},
		{models.IntegersBy{Axis: 1, High: []int{2, 100}}, 0.5, []int{0, 0}, 1},
		{models.Below{P: 0.3}, 0.29, []int{0, 0}, 1},
		{models.Below{P: 0.3}, 0.3, []int{0, 0}, 0},
		{models.Ratings{}, 0.01, []int{0, 0}, 0},
		{models.Ratings{}, 0.0099, []int{0, 0}, 5},
		{models.Ratings{}, 0, []int{0, 0}, 1},
		{models.Fixed{Number: 3}, 0.7, []int{0, 0}, 3},
		{models.Set{Rule: models.Fixed{Number: 1}, Slabs: []models.Slab{{Axis: 1, From: -2}}}, 0, []int{0, 3}, 1},
		{models.Set{Rule: models.Fixed{Number: 1}, Slabs: []models.Slab{{Axis: 1, From: -2, Value: 7}}}, 0, []int{0, 4}, 7},
		{models.Set{Rule: models.Fixed{Number: 1}, Slabs: []models.Slab{{Axis: 0, From: 1, To: 2, Value: 7}}}, 0, []int{2, 0}, 1},
		{models.Set{Rule: models.Fixed{Number: 1}, Slabs: []models.Slab{{Axis: 0, From: 1, To: -1, Value: 7}}}, 0, []int{1, 0}, 7},
	} {
		require.Equal(t, c.want, c.rule.Value(c.u, c.at, []int{3, 6}), "%#v", c)
	}
}

func TestSyntheticInputRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"f32[N,3]", "input x has the unknown size N"},
		{"f32[100000,100000,100000]", "input x has more than"},
		{"f32[9223372036854775807,4]", "input x has more than"},
		{"f32[", ""},
	} {
		_, err := models.SyntheticInput(models.InputSpec{Name: "x", Type: c.text, Rule: models.Uniform{}}, seed, nil)
		require.ErrorContains(t, err, c.want)
	}
}

// table has parameters of every rule.
type table struct {
	Scale  *tensor.Tensor
	Embed  *nn.Embedding
	Ln     *nn.LayerNorm
	Fc     *nn.Linear
	Kernel *tensor.Tensor
	Bn     *nn.BatchNorm1d
}

func (m *table) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x) }

func TestRulesFollowTheModules(t *testing.T) {
	m := &table{tensor.Param(array.New(array.F32)), nn.NewEmbedding(6, 2), nn.NewLayerNorm([]int{2}), nn.NewLinear(2, 3),
		tensor.Param(array.New(array.F32, 2, 3, 4)), nn.NewBatchNorm1d(2)}
	models.Synthetic(&models.Model{}, m, "s")
	want := map[string]models.Rule{"scale": models.RuleScalar, "embed.weight": models.RuleEmbedding, "ln.weight": models.RuleNormWeight, "ln.bias": models.RuleBias,
		"fc.weight": models.RuleMatrix, "fc.bias": models.RuleBias, "kernel": models.RuleConv, "bn.weight": models.RuleNormWeight, "bn.bias": models.RuleBias,
		"bn.running_mean": models.RuleRunningMean, "bn.running_var": models.RuleRunningVar, "bn.num_batches_tracked": models.RuleZero}
	for _, e := range nn.StateDict(m) {
		rule, s := want[e.Name], models.NewStream("s", e.Name)
		require.NotEmpty(t, rule, e.Name)
		for i := range e.Tensor.Array().Len() {
			require.Equal(t, float64(models.ValueOf(rule, s.At(i), e.Tensor.Shape())), array.Float64At(e.Tensor.Array(), i), e.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, m := range models.All() {
		require.Same(t, m, models.Lookup(m.Name))
		require.NotEmpty(t, m.Doc)
		for _, in := range m.Inputs {
			require.Equal(t, in.ShapeType().DType(), in.DType())
		}
	}
	require.Nil(t, models.Lookup("nothing"))
}

func ExampleLookup() {
	m := models.Lookup("mlp")
	net := m.New()
	models.Synthetic(m, net, "demo")
	x, err := models.SyntheticInput(m.Inputs[0], "demo", map[string]int{"N": 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Name, m.Inputs[0].Type, nn.Run(net, x).Shape(), nn.NumParameters(net))
	// Output: mlp f32[N,784] [2 10] 669706
}

// Texts that no tokens are given for end at once.
func TestForcedTokens(t *testing.T) {
	r := models.ForcedTokens{Tokens: [][]int{{2, 1}}}
	require.Equal(t, 1e6, r.Value(0, []int{0, 0, 2}, nil))
	require.Equal(t, 1e6, r.Value(0, []int{1, 0, 1}, nil))
	require.Zero(t, r.Value(0, []int{1, 0, 2}, nil))
	require.Equal(t, 1e6, r.Value(0, []int{2, 0, 0}, nil))
	require.Equal(t, 1e6, r.Value(0, []int{0, 1, 0}, nil))
	require.Zero(t, r.Value(0, []int{0, 1, 2}, nil))
}
