package quant_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

var ctx = context.Background()

// parse reads a graph and gives its parameters pseudo-random values.
func parse(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	fill(m)
	return m
}

func fill(m *graph.Module) {
	gen := passes.Random{State: 7}
	for _, p := range m.Params() {
		if p.Value == nil {
			d, dims, _ := p.Type.Concrete()
			p.Value = gen.Array(d, dims...)
		}
	}
}

// pipeline runs passes on a module.
func pipeline(t testing.TB, m *graph.Module, list ...passes.Pass) *passes.Report {
	t.Helper()
	r, err := passes.Run(ctx, m, list, passes.Options{})
	require.NoError(t, err)
	return r
}

func static() *quant.Config { return &quant.Config{Global: quant.Setting{Mode: quant.Static}} }

// batches yields n batches of pseudo-random inputs of the graph, each of its own seed.
func batches(t testing.TB, m *graph.Module, n int, sizes map[string]int) iter.Seq2[[]*array.Array, error] {
	var all [][]*array.Array
	for i := range n {
		in, err := passes.Inputs(m.Graph, sizes, uint64(100+i))
		require.NoError(t, err)
		all = append(all, in)
	}
	return of(all...)
}

func of(all ...[]*array.Array) iter.Seq2[[]*array.Array, error] {
	return func(yield func([]*array.Array, error) bool) {
		for _, in := range all {
			if !yield(in, nil) {
				return
			}
		}
	}
}

func interpret(t testing.TB, m *graph.Module, in ...*array.Array) []*array.Array {
	t.Helper()
	p := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
	out, err := p.RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

// quantise prepares, calibrates and converts a module.
func quantise(t testing.TB, m *graph.Module, c *quant.Config, calibration iter.Seq2[[]*array.Array, error]) {
	t.Helper()
	pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
	_, err := quant.Calibrate(ctx, m, calibration, quant.CalibrateOptions{})
	require.NoError(t, err)
	pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
}

const residual = `graph net(%x: f32[N,3,8,8]) {
  %w1 = get_attr[c1.weight] : f32[4,3,3,3]
  %b1 = get_attr[c1.bias] : f32[4]
  %c1 = call_function[conv2d](%x, %w1, %b1) {padding=[1,1]} in "c1" "nn.Conv2d"
  %r1 = call_function[relu](%c1)
  %w2 = get_attr[c2.weight] : f32[4,4,3,3]
  %c2 = call_function[conv2d](%r1, %w2, _) {padding=[1,1]} in "c2" "nn.Conv2d"
  %sum = call_function[add](%c2, %r1)
  %r2 = call_function[relu](%sum)
  %p = call_function[max_pool2d](%r2) {kernel_size=[2,2]}
  %f = call_function[flatten](%p) {start_dim=1,end_dim=-1}
  %w3 = get_attr[fc.weight] : f32[10,64]
  %y = call_function[linear](%f, %w3, _) in "fc" "nn.Linear"
  %s = call_function[softmax](%y) {dim=-1}
  return %s
}
param c1.weight : f32[4,3,3,3]
param c1.bias : f32[4]
param c2.weight : f32[4,4,3,3]
param fc.weight : f32[10,64]
`
