package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// parse reads a graph in the text form, without its first line.
func parse(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "parity.fx")
	require.NoError(t, err)
	return m
}

// chain is x, a = neg(x), b = exp(a), c = add(b, a), which is returned.
const chain = `graph net(%x: f32[2]) {
  %a = call_function[neg](%x) : f32[2]
  %b = call_function[exp](%a) : f32[2]
  %c = call_function[add](%b, %a) : f32[2]
  return %c
}
`

// linear has a leaf, a parameter, a buffer, and a parameter that nothing uses.
func linear(t *testing.T) *graph.Module {
	t.Helper()
	m := parse(t, `graph net(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %fc = call_module[fc](%x) : f32[N,2] in "fc" "nn.Linear" at "model.go:41" "(*Net).Forward"
  %w = get_attr[scale] : f32[2]
  %y = call_function[mul](%fc, %w) : f32[N,2] at "model.go:42" "(*Net).Forward"
  return %y
}
param fc.weight : f32[2,2]
param scale : f32[2]
param spare : f32[2]
module fc = linear (weight=fc.weight, bias=_)
`)
	for path, v := range map[string]*array.Array{
		"fc.weight": array.FromSlice([]float32{1, 2, 3, 4}, 2, 2),
		"scale":     array.FromSlice([]float32{10, 1}),
		"spare":     array.FromSlice([]float32{0, 0}),
	} {
		p := *m.Param(path)
		p.Value = v
		m.SetParam(p)
	}
	return m
}

// vector is a tensor of one dimension.
func vector(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

// values runs a module and returns its first result.
func values(t *testing.T, m *graph.Module, in ...*tensor.Tensor) []float32 {
	t.Helper()
	require.Empty(t, graph.Lint(m.Graph), "%s", m.Graph)
	out, err := fx.NewGraphModule(m).Run(context.Background(), in...)
	require.NoError(t, err)
	return tensor.Data[float32](out[0])
}

// pair is the type f32[2].
var pair = shape.TensorType(array.F32, shape.ConstDims(2))
