package quant_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// TestTiedOperands scales and quantises graphs in which one parameter or value is several operands.
func TestTiedOperands(t *testing.T) {
	for _, c := range cases.Ties {
		t.Run(c.Name, func(t *testing.T) {
			m, err := c.Module()
			require.NoError(t, err)
			in, err := passes.Inputs(m.Graph, nil, 5)
			require.NoError(t, err)
			want := quanttest.Interpret(t, m, in...)
			for strength, pass := range []passes.Pass{tune.Smooth(quanttest.Inputs(in), tune.SmoothOptions{}), tune.Smooth(quanttest.Inputs(in), tune.SmoothOptions{Strength: 0.9}), tune.Equalise} {
				n := graph.Clone(m)
				quanttest.Pipeline(t, n, pass)
				require.Less(t, distance(want, quanttest.Interpret(t, n, in...)), 1e-4, "%s %d", pass.Name, strength)
			}
			for mode, most := range map[quant.Mode]float64{quant.Static: 0.2, quant.Dynamic: 0.2, quant.WeightOnly: 0.1} {
				n := graph.Clone(m)
				conf := &quant.Config{Global: quant.Setting{Mode: mode}}
				if mode == quant.Static {
					if prepared := graph.Clone(m); !quanttest.Pipeline(t, prepared, quant.Prepare(conf, cpu.QuantBackend())).Changed() {
						continue // nothing has a static form
					}
					quanttest.Quantise(t, n, conf, quanttest.Inputs(in))
				} else {
					quanttest.Pipeline(t, n, quant.Convert(conf, cpu.QuantBackend()))
				}
				require.Less(t, distance(want, quanttest.Interpret(t, n, in...)), most, "%s\n%s", mode, n)
				lowered := graph.Clone(n)
				quanttest.Pipeline(t, lowered, integer.Lower)
				require.Less(t, distance(want, quanttest.Interpret(t, lowered, in...)), most, "%s, lowered\n%s", mode, lowered)
				e, err := cpu.Compile(lowered, lowering.Options{})
				require.NoError(t, err)
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				require.Less(t, distance(want, got), most, "%s, compiled", mode)
			}
		})
	}
}

// distance is the largest difference, in parts of the largest magnitude.
func distance(want, got []*array.Array) (most float64) {
	for k := range want {
		large, diff := 1e-3, 0.0
		for i := range want[k].Len() {
			w := array.Float64At(want[k], i)
			large, diff = max(large, math.Abs(w)), max(diff, math.Abs(w-array.Float64At(got[k], i)))
		}
		most = max(most, diff/large)
	}
	return most
}
