package fx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// inBody is a graph in which a body of a body has some lines, computes %y : f32[2,4] from
// %v, and may read the parameters w, m, v, b, and call layer and twice.
func inBody(lines string) string {
	return `gofx 1
graph g(%p: bool[], %x: f32[2,4]) {
  %c = call_function[cond](%p, %x) : (f32[2,4]) {
    region yes(%u: f32[2,4]) {
      %s = call_function[scan](%u, %u) {carry=1, seqs=1} : (f32[2,4]) {
        region body(%v: f32[2,4], %row: f32[4]) {
` + lines + `
          %z = call_function[add](%y, %row) : f32[2,4]
          return (%z)
        }
      }
      %s0 = call_function[getitem](%s) {index=0} : f32[2,4]
      return (%s0)
    }
    region no(%u: f32[2,4]) {
      return (%u)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[2,4]
  return %c0
}
subgraph twice(%a: f32[2,4]) {
  %r = call_function[add](%a, %a) : f32[2,4]
  return %r
}
param w : f32[4,4]
param m : f32[4]
param v : f32[4]
param b : f32[4]
module layer = linear (weight=w, bias=b)
`
}

// TestPasses_goIntoBodies runs every pass on a graph whose only work for it is in a body
// of a body. A pass that cannot do its work there says so in its doc, and has no line here:
// quantisation (reason Q22 in its plan), schedule.Overlap (FX3062) and partition.Split.
func TestPasses_goIntoBodies(t *testing.T) {
	all := map[string]passes.Pass{}
	for _, p := range fx.Passes() {
		all[p.Name] = p
	}
	for _, p := range []passes.Pass{simplify.Inline, partition.RerollMin(2),
		fx.Replace("own-rule", func(x *tensor.Tensor) *tensor.Tensor { return x.Relu().Relu() }, func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() })} {
		all[p.Name] = p
	}
	const norm = "%m = get_attr[m]\n%n = get_attr[v]\n%g = get_attr[b]\n%y = call_function[batch_norm](%l, %m, %n, %g, %g) {eps=0.001} : f32[2,4]"
	var chain strings.Builder // four equal groups of two calls
	chain.WriteString("%t0 = call_function[relu](%v)\n")
	for i := range 4 {
		fmt.Fprintf(&chain, "%%e%d = call_function[exp](%%t%d)\n%%t%d = call_function[tanh](%%e%d)\n", i, i, i+1, i)
	}
	chain.WriteString("%y = call_function[neg](%t4)")
	for _, c := range []struct{ pass, lines, gone, made string }{
		{"own-rule", "%a = call_function[relu](%v)\n%y = call_function[relu](%a)", "relu](%a)", "relu](%v)"},
		{"functionalize", "%y = call_module[layer](%v) : f32[2,4]", "call_module", "call_function[linear]"},
		{"linear-bn", "%w = get_attr[w]\n%l = call_function[linear](%v, %w)\n" + norm, "batch_norm", "w_folded"},
		{"bn-affine", "%l = call_function[relu](%v)\n" + norm, "batch_norm", "scale"},
		{"const-fold", "%w = get_attr[w]\n%e = call_function[exp](%w)\n%y = call_function[matmul](%v, %e)", "exp", "_folded"},
		{"cse", "%a = call_function[exp](%v)\n%k = call_function[exp](%v)\n%y = call_function[add](%a, %k)", "%k", "add](%a, %a)"},
		{"dce", "%a = call_function[exp](%v)\n%y = call_function[neg](%v)", "exp", "neg"},
		{"silu", "%a = call_function[sigmoid](%v)\n%y = call_function[mul](%v, %a)", "sigmoid", "silu"},
		{"decompose", "%n = call_function[norm](%v) {dim=[1], keep_dim=true} : f32[2,1]\n%y = call_function[mul](%v, %n)", "norm", "sqrt"},
		{"inline", `%y = call_function[call](%v) {graph="twice"} : f32[2,4]`, "subgraph", "call_function[add](%v, %v)"},
		{"reroll", chain.String(), "%e3", "subgraph block"},
		{"shape-prop", "%a = call_function[exp](%v)\n%y = call_function[neg](%a)", "%a = call_function[exp](%v) : f32[*]", "%a = call_function[exp](%v) : f32[2,4]"},
	} {
		t.Run(c.pass, func(t *testing.T) {
			m := ready(t, inBody(c.lines))
			for n := range m.All() {
				if c.pass == "shape-prop" && n.Name() == "a" {
					n.SetType(shape.Unranked(array.F32))
				}
			}
			require.Contains(t, m.String(), c.gone)
			var gen op.Gen
			in := []*array.Array{array.Scalar(true), gen.Normal(2, 4)}
			want := interpret(t, m, in)
			_, err := passes.Run(context.Background(), m, []passes.Pass{all[c.pass]}, passes.Options{})
			require.NoError(t, err)
			require.NotContains(t, m.String(), c.gone)
			require.Contains(t, m.String(), c.made)
			fxtest.Close(t, c.pass, want, interpret(t, m, in))
		})
	}
}

// ready parses a text and gives its parameters values.
func ready(t *testing.T, text string) *graph.Module {
	m, err := graph.Parse([]byte(text), t.Name())
	require.NoError(t, err)
	var gen op.Gen
	for _, p := range m.Params() {
		_, dims, _ := p.TypeOf().Concrete()
		q := *p
		q.Value = gen.Uniform(0.5, 1.5, dims...)
		m.SetParam(q)
	}
	return m
}

func interpret(t *testing.T, m *graph.Module, in []*array.Array) []*array.Array {
	out, err := fx.NewGraphModule(m).RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}
