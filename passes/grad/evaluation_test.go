package grad_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

type dropped struct {
	Conv *nn.Conv2d
	Norm *nn.BatchNorm2d
	Drop *nn.Dropout
}

func newDropped() *dropped {
	return &dropped{nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewDropout(0.5, nn.DropoutSeed(3))}
}

func (m *dropped) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Norm.Forward(m.Conv.Forward(x))
	return m.Drop.Forward(y).Square().Mean()
}

func captured(t *testing.T, m any) *graph.Module {
	gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,3,8,8]"))
	require.NoError(t, err)
	return gm.Module
}

// Every call in evaluation mode is reported at its line, all at once; AllowEvaluation takes
// them as they are.
func TestEvaluationMode_isNoticed(t *testing.T) {
	m := captured(t, newDropped())
	_, err := grad.Gradient(ctx, m, grad.Options{})
	var list diag.List
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 2)
	for i, what := range []string{"batch_norm", "dropout"} {
		require.Equal(t, grad.EvaluationMode, list[i].Code)
		require.Contains(t, list[i].Error(), what)
		require.Contains(t, list[i].Error(), "evaluation_test.go:")
	}
	_, err = grad.Gradient(ctx, m, grad.Options{AllowEvaluation: true})
	require.NoError(t, err)
	trained := newDropped()
	nn.Train(trained)
	_, err = grad.Gradient(ctx, captured(t, trained), grad.Options{})
	require.NoError(t, err)
}

// What a norm in training is written with is no evaluation, and a norm with given statistics,
// which importers make, is.
func TestNormWrittenOut(t *testing.T) {
	trained := newDropped()
	nn.Train(trained)
	m := captured(t, trained)
	all := simplify.ExpandExcept(func(*graph.Node) bool { return false }, nil)
	_, err := passes.Run(ctx, m, []passes.Pass{simplify.Functionalize, all}, passes.Options{})
	require.NoError(t, err)
	require.Contains(t, m.String(), "batch_norm_inference")
	_, err = grad.Gradient(ctx, m, grad.Options{})
	require.NoError(t, err)

	frozen := graphOf(t, `graph net(%x: f32[2,3,4]) {
  %m = get_attr[mean] : f32[3]
  %v = get_attr[var] : f32[3]
  %y = call_function[batch_norm_inference](%x, %m, %v, _, _) {eps=1e-05} : f32[2,3,4]
  %l = call_function[sum](%y) : f32[]
  return %l
}
`)
	for _, path := range []string{"mean", "var"} {
		frozen.SetParam(graph.Param{Path: path, Value: array.FromSlice([]float32{1, 2, 3}, 3), Buffer: true})
	}
	_, err = grad.Gradient(ctx, frozen, grad.Options{Wrt: []string{"x"}})
	require.ErrorIs(t, err, grad.EvaluationMode)
	_, err = grad.Gradient(ctx, frozen, grad.Options{Wrt: []string{"x"}, AllowEvaluation: true})
	require.NoError(t, err)
}

// Calls that quantisation makes are reported, and integer weights can be kept.
func TestQuantisedGraphs_areNoticed(t *testing.T) {
	body := `graph net(%x: f32[2,3]) {
  %w = get_attr[w] : i8[4,3]
  %s = get_attr[s] : f32[4]
  %a = call_function[int8_linear](%x, %w, %s, _, _) : f32[2,4]
  %b = call_function[relu](%a) : f32[2,4]
  %l = call_function[sum](%b) : f32[]
  return %l
}
`
	m := graphOf(t, body)
	m.SetParam(graph.Param{Path: "w", Value: array.New(array.I8, 4, 3)})
	m.SetParam(graph.Param{Path: "s", Value: array.New(array.F32, 4)})
	_, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}})
	require.ErrorIs(t, err, grad.Quantised)
	require.ErrorContains(t, err, "int8_linear")
	_, err = grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}, AllowEvaluation: true})
	require.NoError(t, err)
}

// A target whose only ways to the loss have no derivative is refused where floats end, or
// where steps begin.
func TestUnreached_namesTheCall(t *testing.T) {
	for _, c := range []struct {
		what string
		f    func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"argmax", func(x *tensor.Tensor) *tensor.Tensor { return x.Argmax(0).Cast(array.F32).Sum() }},
		{"floor", func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Floor().Mul(x.OnesLike()).Sum() }},
		{"gt", func(x *tensor.Tensor) *tensor.Tensor { return x.GtScalar(0).Cast(array.F32).Sum() }},
	} {
		gm, err := fx.Trace(ctx, c.f, fx.Input("x", "f32[3]"))
		require.NoError(t, err)
		_, err = gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
		require.ErrorIs(t, err, grad.Unreached)
		require.ErrorContains(t, err, "through "+c.what)
		require.ErrorContains(t, err, "evaluation_test.go:")
	}
}
