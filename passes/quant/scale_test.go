package quant_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/shape"
)

// longChain returns linear layers and activations, one behind the other, with a sum every
// few layers: a graph of about n nodes.
func longChain(n int) *graph.Module {
	g := graph.New("chain")
	m := graph.NewModule(g)
	c := g.At()
	var gen op.Gen
	v := c.Placeholder("x", shape.TensorType(array.F32, shape.Ints(2, 4)), nil)
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

// scaled quantises a chain without running it: its observers are told ranges.
func scaled(t testing.TB, m *graph.Module, c *quant.Config, b *quant.Backend) (prepared int) {
	_, err := passes.Run(ctx, m, []passes.Pass{quant.Prepare(c, b)}, passes.Options{NoLint: true})
	require.NoError(t, err)
	prepared = m.Graph.Len()
	for _, p := range m.Params() {
		if p.Buffer && p.Value.DType() == array.F32 && p.Value.Len() == 1 {
			array.Data[float32](p.Value)[0] = 1
		}
	}
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Convert(c, b)}, passes.Options{NoLint: true})
	require.NoError(t, err)
	return prepared
}

// TestScaling counts what becomes of a graph of 10,000 nodes.
func TestScaling(t *testing.T) {
	m := longChain(10_000)
	p, err := quant.Resolve(m, static(), cpu.QuantBackend())
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
	c := static()
	c.Global.Activation.Observer.Kind = quant.MinMax
	before := m.Graph.Len()
	// An observer is a reshape, two buffers, and for each end cat, reduction, assign.
	prepared := scaled(t, m, c, cpu.QuantBackend())
	require.Equal(t, before+9*values+3, prepared)
	// A value is scale, zero point, quantize and dequantize, a weight its scale and
	// dequantize beside what read it before.
	require.Equal(t, before+4*values+2*weights, m.Graph.Len())
	require.Empty(t, graph.Lint(m.Graph))
}

func BenchmarkPrepareAndConvert(b *testing.B) {
	for _, kind := range []quant.ObserverKind{quant.MinMax, quant.Histogram} {
		b.Run(kind.String(), func(b *testing.B) {
			config := static()
			config.Global.Activation.Observer.Kind = kind
			backend := cpu.QuantBackend()
			for range b.N {
				b.StopTimer()
				m := longChain(10_000)
				b.StartTimer()
				scaled(b, m, config, backend)
			}
		})
	}
}
