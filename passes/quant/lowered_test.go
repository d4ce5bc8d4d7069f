package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// TestModelsGoAllTheWay quantises networks with one image: whatever the plan grants
// for the CPU becomes an operator on quantised values.
func TestModelsGoAllTheWay(t *testing.T) {
	for name, decibels := range map[string]float64{"mobilenet_v3_large": 20, "resnet18": 34} {
		model := models.Lookup(name)
		net := model.New()
		models.Synthetic(model, net, "gofx-1")
		gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,3,224,224]"))
		require.NoError(t, err)
		_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
		require.NoError(t, err)
		plain, m := graph.Clone(gm.Module), gm.Module
		gen := passes.Random{State: 9}
		x := gen.Array(array.F32, 1, 3, 224, 224)
		quantise(t, m, static(), of([]*array.Array{x}))
		converted := graph.Clone(m)
		r := pipeline(t, m, quant.Lower)
		require.Empty(t, r.Passes[0].Refused, name)
		for n := range m.Graph.Nodes() {
			o := n.Op()
			require.False(t, o == std.Conv2d || o == std.Linear || o == std.Add || o == std.Relu, "%s: %s", name, n.Text())
		}
		want := interpret(t, plain, x)[0]
		require.Greater(t, sqnr(want, interpret(t, converted, x)[0]), decibels, name)
		require.Greater(t, sqnr(want, interpret(t, m, x)[0]), decibels, name)
	}
}

// TestFourBitsAreLowered finds the operator on weights of 4 bits again.
func TestFourBitsAreLowered(t *testing.T) {
	for group, want := range map[int]int{32: 1, 64: 1, 16: 0} { // kernels have groups of 32
		m := parse(t, tied)
		plain := graph.Clone(m)
		b := cpu.QuantBackend()
		b.Operator(std.Linear).Weight.GroupOf = 16
		c := &quant.Config{Rules: []quant.Rule{rule(quant.Selector{Op: "linear"}, quant.WeightOnly)}}
		c.Rules[0].Weight = quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: group}
		pipeline(t, m, quant.Convert(c, b), quant.Lower)
		found := 0
		for range m.Graph.Calls(std.Int4Linear) {
			found++
		}
		require.Equal(t, want, found, m)
		if found > 0 {
			for _, o := range []*op.Op{std.BitwiseAnd, std.Dequantize, std.Reshape} {
				for n := range m.Graph.Calls(o) {
					t.Errorf("%s is left over", n)
				}
			}
		}
		sounds(t, plain, m, 15)
	}
}
