package quant_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// BenchmarkAttention is attention of twelve heads in floats, and with products of bytes:
// what cpu.QuantBackend says of it follows from these times.
func BenchmarkAttention(b *testing.B) {
	for _, s := range []int{128, 512, 1024} {
		m := quanttest.Parse(b, strings.ReplaceAll(`graph net(%q: f32[1,12,S,64], %k: f32[1,12,S,64], %v: f32[1,12,S,64]) {
  %y = call_function[scaled_dot_product_attention](%q, %k, %v, _)
  return %y
}
`, "S", strconv.Itoa(s)))
		bytes := graph.Clone(m)
		c := &quant.Config{Rules: []quant.Rule{quanttest.Rule(quant.Selector{Op: "scaled_dot_product_attention"}, quant.Dynamic)}}
		quanttest.Pipeline(b, bytes, quant.Convert(c, cpu.QuantBackend()), integer.Lower)
		in, err := passes.Inputs(m.Graph, nil, 3)
		require.NoError(b, err)
		for name, net := range map[string]*graph.Module{"f32": m, "int8": bytes} {
			e, err := cpu.Compile(net, lowering.Options{Threads: 1})
			require.NoError(b, err)
			b.Run(name+"/"+strconv.Itoa(s), func(b *testing.B) {
				for b.Loop() {
					_, err := e.Run(ctx, in)
					require.NoError(b, err)
				}
			})
			require.NoError(b, e.Close())
		}
	}
}
