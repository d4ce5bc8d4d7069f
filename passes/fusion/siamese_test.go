package fusion_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// siamese has an encoder for two images, written out in the graph and once more as a
// sub-graph, and a call of the convolution that nothing normalises.
const siamese = `
graph net(%x: f32[2,3,6,6], %y: f32[1,3,6,6]) {
  %a = call_module[conv](%x)
  %an = call_module[bn](%a)
  %b = call_module[conv](%y)
  %bn = call_module[bn](%b)
  %plain = call_module[conv](%y)
  %c = call_function[call](%x) {graph="branch"}
  %d = call_function[call](%x) {graph="branch"}
  %f = call_module[fc](%c)
  %fn = call_module[norm](%f)
  %g = call_module[fc](%d)
  %gn = call_module[norm](%g)
  return (%an, %bn, %plain, %fn, %gn)
}
subgraph branch(%x: f32[2,3,6,6]) {
  %conv = call_module[conv](%x)
  %bn = call_module[bn](%conv)
  %y = call_function[mean](%bn) {dim=[2,3]}
  return %y
}
param conv.weight : f32[4,3,3,3]
param bn.running_mean : f32[4] buffer
param bn.running_var : f32[4] buffer
param bn.weight : f32[4]
param bn.bias : f32[4]
param fc.weight : f32[4,4]
param fc.bias : f32[4]
module conv = conv2d {padding=[1]} (weight=conv.weight, bias=_)
module fc = linear (weight=fc.weight, bias=fc.bias)
module bn = batch_norm {eps=1e-05} (running_mean=bn.running_mean, running_var=bn.running_var, weight=bn.weight, bias=bn.bias)
module norm = batch_norm_inference {eps=0.001} (mean=bn.running_mean, var=bn.running_var, weight=bn.weight, bias=bn.bias)
`

// TestSiamese folds a norm into what is called several times: its calls share one folded
// weight and one bias, through sub-graphs too, and a call without the norm keeps its own.
func TestSiamese(t *testing.T) {
	for name, first := range map[string][]passes.Pass{"modules": nil, "functions": {simplify.Functionalize}} {
		t.Run(name, func(t *testing.T) {
			m := passtest.Parse(t, siamese)
			in, err := passes.Inputs(m.Graph, nil, 5)
			require.NoError(t, err)
			want, err := fx.NewGraphModule(m).RunArrays(context.Background(), in)
			require.NoError(t, err)
			r, err := passes.Run(context.Background(), m, append(first, fusion.ConvBN, fusion.LinearBN), passes.Options{Numeric: &passes.Numeric{}})
			require.NoError(t, err)
			require.Equal(t, 3, r.Matches("conv-bn"))
			require.Equal(t, 2, r.Matches("linear-bn"))
			var paths []string
			for _, p := range m.Params() {
				paths = append(paths, p.Path)
			}
			require.ElementsMatch(t, []string{"conv.weight", "conv.weight_folded", "conv.bias_folded", "fc.weight_folded", "fc.bias_folded"}, paths)
			for n := range m.All() {
				require.False(t, n.Op() == std.BatchNorm || n.Op() == std.BatchNormInference, "%s is left", n)
			}
			called := map[string]int{}
			for n := range m.All() {
				if n.Opcode() == graph.CallModule {
					called[n.Target()]++
				}
			}
			if first == nil {
				require.Equal(t, map[string]int{"conv_folded": 3, "conv": 1, "fc_folded": 2}, called)
			}
			runs(t, name, m, in, want)
		})
	}
}

// TestSiameseOfOtherNorms gives every call a norm that differs in one parameter: none may be shared.
func TestSiameseOfOtherNorms(t *testing.T) {
	for _, other := range []string{
		"{eps=0.5} (mean=mean, var=var, weight=w, bias=b)", "{eps=1e-05} (mean=b, var=var, weight=w, bias=b)",
		"{eps=1e-05} (mean=mean, var=w, weight=w, bias=b)", "{eps=1e-05} (mean=mean, var=var, weight=_, bias=b)",
		"{eps=1e-05} (mean=mean, var=var, weight=w, bias=mean)",
	} {
		m := passtest.Parse(t, strings.Replace(`
graph net(%x: f32[2,3,6,6]) {
  %a = call_module[conv](%x)
  %an = call_module[bn](%a)
  %b = call_module[conv](%x)
  %bn = call_module[other](%b)
  %c = call_module[conv](%x)
  %cn = call_module[other](%c)
  return (%an, %bn, %cn)
}
param conv.weight : f32[4,3,3,3]
param mean : f32[4]
param var : f32[4]
param w : f32[4]
param b : f32[4]
module conv = conv2d {padding=[1]} (weight=conv.weight, bias=_)
module bn = batch_norm_inference {eps=1e-05} (mean=mean, var=var, weight=w, bias=b)
module other = batch_norm_inference OTHER
`, "OTHER", other, 1))
		v := *m.Param("w")
		for i := range v.Value.Len() { // a variance in one case
			array.Data[float32](v.Value)[i] = float32(i) + 0.5
		}
		in, err := passes.Inputs(m.Graph, nil, 5)
		require.NoError(t, err)
		want, err := fx.NewGraphModule(m).RunArrays(context.Background(), in)
		require.NoError(t, err)
		r, err := passes.Run(context.Background(), m, []passes.Pass{fusion.ConvBN}, passes.Options{})
		require.NoError(t, err)
		require.Equal(t, 3, r.Matches("conv-bn"))
		require.Len(t, m.Params(), 4, other)
		runs(t, other, m, in, want)
	}
}
