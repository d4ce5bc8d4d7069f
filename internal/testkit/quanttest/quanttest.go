// Package quanttest has the graphs and the steps that tests of the rooms of passes/quant
// share.
package quanttest

import (
	"context"
	"iter"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

var ctx = context.Background()

// Parse reads a graph and gives its parameters pseudo-random values.
func Parse(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	Fill(m)
	return m
}

// Fill gives the parameters without a value pseudo-random ones.
func Fill(m *graph.Module) {
	gen := passes.Random{State: 7}
	for _, p := range m.Params() {
		if p.Value == nil {
			d, dims, _ := p.Type.Concrete()
			p.Value = gen.Array(d, dims...)
		}
	}
}

// Pipeline runs passes on a module.
func Pipeline(t testing.TB, m *graph.Module, list ...passes.Pass) *passes.Report {
	t.Helper()
	r, err := passes.Run(ctx, m, list, passes.Options{})
	require.NoError(t, err)
	return r
}

// Static quantises everything statically.
func Static() *quant.Config { return &quant.Config{Global: quant.Setting{Mode: quant.Static}} }

// Batches yields n batches of pseudo-random inputs of the graph, each of its own seed.
func Batches(t testing.TB, m *graph.Module, n int, sizes map[string]int) iter.Seq2[[]*array.Array, error] {
	var all [][]*array.Array
	for i := range n {
		in, err := passes.Inputs(m.Graph, sizes, uint64(100+i))
		require.NoError(t, err)
		all = append(all, in)
	}
	return Inputs(all...)
}

// Inputs yields the batches that it is given.
func Inputs(all ...[]*array.Array) iter.Seq2[[]*array.Array, error] {
	return func(yield func([]*array.Array, error) bool) {
		for _, in := range all {
			if !yield(in, nil) {
				return
			}
		}
	}
}

// Interpret returns the results of a module, whose state it leaves as it is.
func Interpret(t testing.TB, m *graph.Module, in ...*array.Array) []*array.Array {
	t.Helper()
	p := interp.Interpreter{State: interp.NewState(graph.Clone(m))}
	out, err := p.RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

// Quantise prepares, calibrates and converts a module.
func Quantise(t testing.TB, m *graph.Module, c *quant.Config, calibration iter.Seq2[[]*array.Array, error]) {
	t.Helper()
	Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
	_, err := quant.Calibrate(ctx, m, calibration, quant.CalibrateOptions{})
	require.NoError(t, err)
	Pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
}

const Residual = `graph net(%x: f32[N,3,8,8]) {
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

// SQNR is the ratio of signal to noise of got, in decibels.
func SQNR(want, got *array.Array) float64 {
	signal, noise := 0.0, 0.0
	for i := range want.Len() {
		w, g := array.Float64At(want, i), array.Float64At(got, i)
		signal += w * w
		noise += (w - g) * (w - g)
	}
	return 10 * math.Log10(signal/noise)
}

// Sounds demands that a module computes what another does, within a noise.
func Sounds(t testing.TB, want, got *graph.Module, decibels float64) {
	t.Helper()
	in, err := passes.Inputs(want.Graph, nil, 4711)
	require.NoError(t, err)
	a, b := Interpret(t, want, in...), Interpret(t, got, in...)
	require.Len(t, b, len(a))
	for i := range a {
		r := SQNR(a[i], b[i])
		require.Greater(t, r, decibels, "result %d", i)
		require.False(t, math.IsInf(r, 1), "result %d is not quantised", i)
	}
}

// TiedEmbedding reads a vocabulary and projects back on it.
const TiedEmbedding = `graph net(%i: i64[N], %x: f32[N,64]) {
  %w = get_attr[emb.weight] : f32[10,64]
  %e = call_function[embedding](%i, %w)
  %h = call_function[add](%e, %x)
  %y = call_function[linear](%h, %w, _)
  return %y
}
param emb.weight : f32[10,64]
`

func Rule(s quant.Selector, m quant.Mode) quant.Rule {
	return quant.Rule{Selector: s, Setting: quant.Setting{Mode: m}}
}

func Calls(g *graph.Graph, o *op.Op) (n int) {
	for range g.Calls(o) {
		n++
	}
	return n
}

// Single is a graph of which the input alone is observed.
const Single = `graph net(%x: f32[N,4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w, _) in "fc" "nn.Linear" at "model.go:7"
  return %y
}
param w : f32[4,4]
`

func Prepared(t testing.TB, text string, o quant.Observer) *graph.Module {
	m := Parse(t, text)
	c := Static()
	c.Global.Activation.Observer = o
	Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
	return m
}

func Rows(v ...float32) []*array.Array {
	return []*array.Array{array.FromSlice(v, len(v)/4, 4)}
}
