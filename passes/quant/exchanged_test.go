package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// TestExchangedWeights quantises products by parameters whose axes are exchanged as by weights, with a scale for
// each channel, not by a range that each run finds again.
func TestExchangedWeights(t *testing.T) {
	for name, text := range map[string]string{
		"scores by the table of an embedding": `graph g(%x: i64[3]) {
  %w = get_attr[w]
  %e = call_function[embedding](%x, %w)
  %v = get_attr[w]
  %t = call_function[t](%v)
  %y = call_function[matmul](%e, %t)
  return %y
}
param w : f32[24,16]`,
		"transposed": `graph g(%x: f32[3,16]) {
  %v = get_attr[w]
  %t = call_function[transpose](%v) {dim0=0, dim1=1}
  %y = call_function[matmul](%x, %t)
  %z = call_function[relu](%y)
  return %z
}
param w : f32[24,16]`,
		"two products of one weight": `graph g(%x: f32[3,16]) {
  %v = get_attr[w]
  %t = call_function[permute](%v) {dims=[1,0]}
  %y = call_function[matmul](%x, %t)
  %z = call_function[matmul](%y, %v)
  return (%y, %z)
}
param w : f32[24,16]`,
		"a linear layer": `graph g(%x: f32[3,16]) {
  %v = get_attr[w]
  %t = call_function[t](%v)
  %y = call_function[linear](%x, %t)
  return %y
}
param w : f32[16,24]`,
	} {
		t.Run(name, func(t *testing.T) {
			m := quanttest.Parse(t, text)
			in, err := passes.Inputs(m.Graph, nil, 5)
			require.NoError(t, err)
			want := quanttest.Interpret(t, m, in...)
			for mode, most := range map[quant.Mode]float64{quant.Static: 0.1, quant.Dynamic: 0.1, quant.WeightOnly: 0.05} {
				n := graph.Clone(m)
				conf := &quant.Config{Global: quant.Setting{Mode: mode}}
				if mode == quant.Static {
					quanttest.Quantise(t, n, conf, quanttest.Inputs(in))
				} else {
					quanttest.Pipeline(t, n, quant.Convert(conf, cpu.QuantBackend()))
				}
				quanttest.Pipeline(t, n, integer.Lower)
				require.LessOrEqual(t, quanttest.Calls(n.Graph, std.DynamicQuantize), 2, "one for each product\n%s", n)
				for at := range n.Graph.Nodes() {
					if at.Op() == std.DynamicQuantize {
						require.NotEqual(t, graph.GetAttr, at.Arg(0).Opcode(), "a weight has a scale already")
						require.Nil(t, at.Arg(0).Viewed(), "a weight has a scale already")
					}
				}
				require.Zero(t, quanttest.Calls(n.Graph, std.Matmul)+quanttest.Calls(n.Graph, std.Linear), "%s\n%s", mode, n)
				require.Less(t, distance(want, quanttest.Interpret(t, n, in...)), most, "%s\n%s", mode, n)
				e, err := cpu.Compile(n, lowering.Options{})
				require.NoError(t, err)
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				require.Less(t, distance(want, got), most, "%s, compiled", mode)
			}
		})
	}
}
