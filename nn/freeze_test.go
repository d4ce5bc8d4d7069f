package nn_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// headed is a body with a norm, and a head.
type headed struct {
	Body *nn.Linear
	Norm *nn.BatchNorm1d
	Head *nn.Linear
}

func (m *headed) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Head.Forward(m.Norm.Forward(m.Body.Forward(x))).Square().Mean()
}

func paths(m any) (list []string) {
	for _, e := range nn.NamedParameters(m) {
		list = append(list, e.Name)
	}
	return list
}

func TestFreeze_leavesOutOfTraining(t *testing.T) {
	m := &headed{nn.NewLinear(3, 4), nn.NewBatchNorm1d(4), nn.NewLinear(4, 1)}
	nn.Train(m)
	all := []string{"body.weight", "body.bias", "norm.weight", "norm.bias", "head.weight", "head.bias"}
	require.Equal(t, all, paths(m))
	require.NoError(t, nn.Freeze(m, "body.*", "norm.bias"))
	left := []string{"norm.weight", "head.weight", "head.bias"}
	require.Equal(t, left, paths(m))
	require.Len(t, nn.StateDict(m), len(all)+3, "what is frozen is saved all the same")

	gm, err := fx.Trace(t.Context(), m, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	require.True(t, gm.Param("body.weight").Buffer)
	g, err := gm.Gradient(t.Context(), fx.GradOptions{})
	require.NoError(t, err)
	require.Equal(t, left, g.Graph.Output().Structure().Keys)
	g, err = gm.Gradient(t.Context(), fx.GradOptions{Wrt: []string{"*"}})
	require.NoError(t, err)
	require.Equal(t, left, g.Graph.Output().Structure().Keys, "patterns mean what is trained")

	require.NoError(t, nn.Unfreeze(m, "body.weight"))
	require.Equal(t, append([]string{"body.weight"}, left...), paths(m))
	require.NoError(t, nn.Unfreeze(m))
	require.Equal(t, all, paths(m))
	require.NoError(t, nn.Freeze(m))
	require.Empty(t, paths(m))
	require.NoError(t, nn.Freeze(nn.NewReLU()), "nothing to freeze")
}

func TestFreeze_tiedAndWrong(t *testing.T) {
	a := nn.NewLinear(3, 3)
	m := &headed{Body: a, Norm: nn.NewBatchNorm1d(3), Head: &nn.Linear{Weight: a.Weight, Bias: nn.NewLinear(3, 3).Bias}}
	require.NoError(t, nn.Freeze(m, "head.*"))
	require.Equal(t, []string{"body.bias", "norm.weight", "norm.bias"}, paths(m))
	err := nn.Freeze(m, "norm.*", "bodi.bias", "[")
	require.ErrorIs(t, err, nn.NoParameter)
	require.ErrorContains(t, err, "did you mean body.bias?")
	require.ErrorContains(t, err, "is no pattern")
	require.ErrorContains(t, err, "freeze_test.go:")
	require.Contains(t, paths(m), "norm.weight", "nothing is frozen then")
}

// Only the head is trained.
func ExampleFreeze() {
	m := &headed{nn.NewLinear(3, 4), nn.NewBatchNorm1d(4), nn.NewLinear(4, 1)}
	if err := nn.Freeze(m, "body.*", "norm.*"); err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range nn.NamedParameters(m) {
		fmt.Println(p.Name, p.Tensor.Type())
	}
	// Output:
	// head.weight f32[1,4]
	// head.bias f32[1]
}

func ExampleUnfreeze() {
	l := nn.NewLinear(3, 4)
	fmt.Println(nn.Freeze(l), len(nn.Parameters(l)))
	fmt.Println(nn.Unfreeze(l, "weight"), len(nn.Parameters(l)))
	// Output:
	// <nil> 0
	// <nil> 1
}

func ExampleParameters() {
	l := nn.NewLinear(3, 4)
	_, grads, err := fx.ValueAndGrad(func() *tensor.Tensor { return l.Forward(tensor.Ones(2, 3)).Sum() }, nn.Parameters(l)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range grads {
		fmt.Println(g.Type())
	}
	// Output:
	// f32[4,3]
	// f32[4]
}

func ExampleNamedParameters() {
	for _, p := range nn.NamedParameters(nn.NewBatchNorm1d(4)) { // running statistics are buffers
		fmt.Println(p.Name, p.Tensor.Type())
	}
	// Output:
	// weight f32[4]
	// bias f32[4]
}
