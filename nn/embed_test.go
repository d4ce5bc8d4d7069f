package nn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// scaled, encoder and tower embed modules of the library, as subclasses do in
// PyTorch.
type scaled struct {
	nn.Linear
	Gain *tensor.Tensor
}

func (m *scaled) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Linear.Forward(x).Mul(m.Gain) }

type encoder struct {
	*nn.LSTM
	Proj *nn.Linear
}

type tower struct {
	nn.NamedSequential
	Last *scaled
}

func TestEmbeddedModulesKeepTheirOwnNames(t *testing.T) {
	s := &scaled{*nn.NewLinear(2, 2), tensor.Param(array.New(array.F32, 1))}
	require.Equal(t, []string{"weight", "bias", "gain"}, names(s))
	require.Equal(t, []string{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "proj.weight", "proj.bias"},
		names(&encoder{nn.NewLSTM(2, 3), nn.NewLinear(3, 1)}))
	require.Equal(t, []string{"a.weight", "a.bias", "last.weight", "last.bias", "last.gain"},
		names(&tower{*nn.NewNamedSequential(nn.Named("a", nn.NewLinear(1, 1))), s}))
}

// scoped is a spy that sees which modules run.
type scoped struct {
	spy
	modules []any
}

func (s *scoped) Enter(m any, _ []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	s.modules = append(s.modules, m)
	return nil, func() {}, false
}

func TestRunOpensScopesForUserModulesOnly(t *testing.T) {
	user := &scaled{*nn.NewLinear(2, 2), tensor.Param(array.New(array.F32, 1))}
	leaf := nn.NewReLU()
	seq := nn.NewSequential(user, leaf)
	s := &scoped{}
	x := tensor.NewProxy(s, shape.TensorType(array.F32, shape.ConstDims(1, 2)))
	nn.Run(seq, x)
	require.Equal(t, []any{seq, user}, s.modules)
}

func TestWalkersGiveGoExpressions(t *testing.T) {
	m := &struct {
		Body *nn.NamedSequential
		Rnn  *nn.GRU
		Dict *nn.ModuleDict
	}{nn.NewNamedSequential(nn.Named("fc", nn.NewLinear(1, 1))), nn.NewGRU(1, 1), nn.NewModuleDict(nn.Named("p", nn.NewPReLU(1)))}
	got := map[string]string{}
	tensor.Walk(m, func(it tensor.Item) bool {
		got[it.Path] = it.Selector
		return true
	})
	require.Equal(t, ".Body.Children.Modules[0]", got["body.fc"])
	require.Equal(t, ".Rnn.RNNBase.Weights.Tensors[0]", got["rnn.weight_ih_l0"])
	require.Equal(t, ".Dict.Children.Modules[0]", got["dict.p"])
}
