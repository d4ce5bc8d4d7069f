package fusion_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// TestResNetHasNoBatchNorm folds a whole network, as traced and as functions.
func TestResNetHasNoBatchNorm(t *testing.T) {
	model := models.Lookup("resnet50")
	require.NotNil(t, model)
	for name, first := range map[string][]passes.Pass{"modules": nil, "functions": {simplify.Functionalize}} {
		t.Run(name, func(t *testing.T) {
			net := model.New()
			models.Synthetic(model, net, "fold")
			gm, err := fx.Trace(context.Background(), net, fx.Input("x", "f32[N,3,H,W]"))
			require.NoError(t, err)
			count := func() (n int) {
				for range gm.Graph.Calls(std.BatchNorm) {
					n++
				}
				return n
			}
			require.Equal(t, 53, count())
			r, err := gm.Apply(context.Background(), append(first, fusion.ConvBN), fx.PassOptions{
				Expect:  []passes.Expectation{passes.Expect("conv-bn", 53)},
				Numeric: &passes.Numeric{Sizes: map[string]int{"N": 1, "H": 40, "W": 40}}})
			require.NoError(t, err)
			require.Zero(t, count())
			require.Empty(t, r.Passes[len(r.Passes)-1].Refused)
			for _, p := range gm.Params() {
				require.NotContains(t, p.Path, "running_", "unused parameters are dropped")
			}
			for n := range gm.Graph.Nodes() {
				if n.Opcode().IsCall() {
					require.NotEmpty(t, n.Pos().File, "%s has lost its position", n)
					require.True(t, n.Type().Ranked(), "%s has lost its type", n)
				}
			}
		})
	}
}

// convBN is a convolution with a batch norm after it; T is the type of all but statistics.
const convBN = `
graph g(%x: T[2,2,5,5]) {
  %conv = call_module[conv](%x) : T[2,3,4,4]
  %bn = call_module[bn](%conv) : T[2,3,4,4]
  return %bn
}
param conv.weight : T[3,2,2,2]
param mean : f32[3] buffer
param var : f32[3] buffer
module conv = conv2d (weight=conv.weight, bias=_)
module bn = batch_norm {eps=1e-05} (running_mean=mean, running_var=var, weight=_, bias=_)
`

// TestHalfPrecision folds in float64 and rounds once.
func TestHalfPrecision(t *testing.T) {
	m := passtest.Parse(t, strings.ReplaceAll(convBN, "T[", "f16["))
	before := graph.Clone(m)
	_, err := passes.Run(context.Background(), m, []passes.Pass{fusion.ConvBN}, passes.Options{Numeric: &passes.Numeric{Rel: 3e-3, Abs: 1e-3}})
	require.NoError(t, err)
	w, v := before.Param("conv.weight").Value, before.Param("var").Value
	got := m.Param("conv.weight_folded").Value
	require.Equal(t, array.F16, got.DType())
	require.InEpsilon(t, array.Float64At(w, 9)/math.Sqrt(array.Float64At(v, 1)+1e-5), array.Float64At(got, 9), 1e-3)
	require.Equal(t, array.F16, m.Param("conv.bias_folded").Value.DType())
}

// TestParametersWithoutValues refuses to fold what only has a type.
func TestParametersWithoutValues(t *testing.T) {
	m, err := graph.Parse([]byte("gofx 1"+strings.ReplaceAll(convBN, "T[", "f32[")), "t.fx")
	require.NoError(t, err)
	_, err = passes.Run(context.Background(), m, []passes.Pass{fusion.ConvBN}, passes.Options{Expect: []passes.Expectation{passes.Expect("conv-bn", 1)}})
	require.ErrorIs(t, err, passes.MatchCount)
	require.ErrorContains(t, err, "first candidate that did not match: %bn: parameter conv.weight has no value")
}

// TestMismatchedParameters changes values that the checked types do not show.
func TestMismatchedParameters(t *testing.T) {
	for path, why := range map[string]string{"mean": "its parameters have different sizes", "w": "it has 3 channels, the result of %conv has 5"} {
		m := passtest.Parse(t, `
graph g(%x: f32[2,2,5,5]) {
  %conv = call_module[conv](%x) : f32[2,3,4,4]
  %bn = call_module[bn](%conv) : f32[2,3,4,4]
  return %bn
}
param w : f32[3,2,2,2]
param mean : f32[3] buffer
param var : f32[3] buffer
module conv = conv2d (weight=w, bias=_)
module bn = batch_norm {eps=1e-05} (running_mean=mean, running_var=var, weight=_, bias=_)
`)
		p := *m.Param(path)
		p.Value = array.New(array.F32, append([]int{5}, p.Value.Shape()[1:]...)...)
		m.SetParam(p)
		r, err := passes.Run(context.Background(), m, []passes.Pass{fusion.ConvBN}, passes.Options{NoLint: true})
		require.NoError(t, err)
		require.Contains(t, r.Explain(), why)
	}
}
