package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant"
)

// framed puts infinities around what it takes the maximum of, as exporters write uneven
// padding, and between scores; what goes on from both is finite.
const framed = `graph net(%x: f32[2,3,9,9]) {
  %w = get_attr[w] : f32[4,3,3,3]
  %v = get_attr[v] : f32[5,4,3,3]
  %c = call_function[conv2d](%x, %w, _)
  %p = call_function[pad](%c) {pad=[0,1,0,1], value=-inf}
  %q = call_function[permute](%p) {dims=[0,1,3,2]}
  %m = call_function[max_pool2d](%q) {kernel_size=[2,2],stride=[1,1]}
  %d = call_function[conv2d](%m, %v, _)
  return %d
}
param w : f32[4,3,3,3]
param v : f32[5,4,3,3]
`

func TestPlan_infinitiesStayInFloats(t *testing.T) {
	plain := quanttest.Parse(t, framed)
	for _, kind := range []quant.ObserverKind{quant.Histogram, quant.MinMax, quant.MovingAverage} {
		c := quanttest.Static()
		c.Global.Activation.Observer.Kind = kind
		m := graph.Clone(plain)
		quanttest.Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
		_, err := quant.Calibrate(ctx, m, quanttest.Batches(t, plain, 3, nil), quant.CalibrateOptions{})
		require.NoError(t, err)
		report := quanttest.Pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
		require.Contains(t, report.Explain(), "Q26 infinite value")
		quanttest.Sounds(t, plain, m, 20)
		for n := range m.Graph.Nodes() {
			if n.Op() == std.Conv2d {
				require.Equal(t, std.Dequantize, n.Arg(0).Op(), "%s computes in 8 bits", n.Name())
			}
			if n.Op() == std.Quantize {
				require.NotContains(t, []string{"p", "q"}, n.Arg(0).Name())
			}
		}
	}
}
