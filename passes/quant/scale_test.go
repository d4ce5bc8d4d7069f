package quant_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/shape"
)

// longChain returns linear layers and activations, one after the other, with a sum every
// few layers: a graph of about n nodes.
func longChain(n int) *graph.Module {
	g := graph.New("chain")
	m := graph.NewModule(g)
	c := g.At()
	var gen op.Gen
	v := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2, 4)), nil)
	old := v
	for g.Len() < n-1 {
		path := "w" + strconv.Itoa(g.Len())
		m.SetParam(graph.Param{Path: path, Value: gen.Normal(4, 4)})
		v = c.Function(std.Linear, nil, v, c.GetAttr(path))
		if g.Len()%4 == 0 {
			v = c.Function(std.Gelu, nil, v)
		}
		if g.Len()%5 == 0 {
			v, old = c.Function(std.Add, nil, v, old), v
		}
	}
	c.Output(nil, v)
	return m
}

// observed tells the observers of a prepared graph what they have seen.
func observed(m *graph.Module) {
	for _, p := range m.Params() {
		if !p.Buffer || p.Value.DType() != array.F64 {
			continue
		}
		seen := array.Data[float64](p.Value)
		seen[0], seen[1] = -0.75, 0.9
		if len(seen) == 2 {
			continue
		}
		seen[2] = 1
		for i := range seen[3:] {
			x := (float64(i)+0.5)/1024 - 1
			if x > seen[0] && x < seen[1] {
				seen[3+i] = math.Round(1e4 * math.Exp(-8*x*x))
			}
		}
	}
}

// TestScaling counts what becomes of a graph of 10,000 nodes.
func TestScaling(t *testing.T) {
	m := longChain(10_000)
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	values, weights := 0, 0
	for _, e := range p.Entries {
		switch e.Part {
		case quant.ValuePart:
			values++
		case quant.WeightPart:
			weights++
		}
	}
	require.Greater(t, values, 4000)
	require.Greater(t, weights, 3000)
	c := quanttest.Static()
	c.Global.Activation.Observer.Kind = quant.MinMax
	before := m.Graph.Len()
	b := cpu.QuantBackend()
	quanttest.Pipeline(t, m, quant.Prepare(c, b))
	// An observer is a buffer, a reduction and a write; the batches are counted.
	require.Equal(t, before+3*values+3, m.Graph.Len())
	observed(m)
	quanttest.Pipeline(t, m, quant.Convert(c, b))
	// A value is scale, zero point, quantize and dequantize, a weight its scale and
	// dequantize next to what read it before.
	require.Equal(t, before+4*values+2*weights, m.Graph.Len())
	require.Empty(t, graph.Lint(m.Graph))
}

// BenchmarkScaling quantises a graph of 10,000 nodes; observers are told what they have
// seen. It says what each part takes.
func BenchmarkScaling(b *testing.B) {
	channel := quant.Scheme{Granularity: quant.PerChannel}
	for _, kind := range []quant.Setting{
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}, Weight: quant.Scheme{Granularity: quant.PerTensor}},
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}, Weight: channel},
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MovingAverage}}, Weight: channel},
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Histogram}}, Weight: channel},
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Percentile}}, Weight: channel},
		{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Entropy}}, Weight: channel},
	} {
		b.Run(kind.Activation.Observer.Kind.String()+"/"+kind.Weight.Granularity.String(), func(b *testing.B) {
			config, backend := &quant.Config{Global: kind}, cpu.QuantBackend()
			var took []time.Duration
			run := func(m *graph.Module, list ...passes.Pass) {
				r, err := passes.Run(ctx, m, list, passes.Options{NoLint: true})
				require.NoError(b, err)
				for _, p := range r.Passes {
					took = append(took, p.Time)
				}
			}
			for range b.N {
				b.StopTimer()
				m := longChain(10_000)
				b.StartTimer()
				run(m, quant.Prepare(config, backend))
				b.StopTimer()
				observed(m)
				b.StartTimer()
				run(m, quant.Convert(config, backend), integer.Lower)
			}
			for i, part := range []string{"prepare", "convert", "lower"} {
				var sum time.Duration
				for k := i; k < len(took); k += 3 {
					sum += took[k]
				}
				b.ReportMetric(sum.Seconds()*1e3/float64(b.N), part+"-ms")
			}
		})
	}
}
