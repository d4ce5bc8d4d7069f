package recompute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/recompute"
)

// BenchmarkGradients runs the gradients by all parameters on one thread: with everything kept,
// with cheap calls computed again, and with whole layers. It reports what is kept, in bytes.
func BenchmarkGradients(b *testing.B) {
	ids := array.New(array.I64, 8, 64)
	for i := range array.Data[int64](ids) {
		array.Data[int64](ids)[i] = int64(i * 37 % 1000)
	}
	c := models.GPT2Config{VocabSize: 1000, MaxPositions: 64, Width: 128, NumLayers: 6, NumHeads: 4, LayerNormEps: 1e-5}
	for _, s := range []subject{
		{name: "deep", net: newDeep(16, 128), specs: []fx.Option{fx.Input("x", "f32[256,128]")}, in: []*array.Array{noise(256, 128)}, scopes: []string{"layers.*"}},
		{name: "gpt2", net: &textLoss{models.NewGPT2(c)}, specs: []fx.Option{fx.Input("ids", "i64[8,64]")}, in: []*array.Array{ids}, scopes: []string{"net.h.*"}},
	} {
		g := s.gradients(b)
		cheap, few, all := reported(b, g, recompute.Policy{})
		layers, least, _ := reported(b, g, recompute.Policy{Scopes: s.scopes})
		for _, way := range []struct {
			name string
			m    *fx.GraphModule
			kept int64
		}{{"none", g, all}, {"cheap", cheap, few}, {"layers", layers, least}} {
			b.Run(s.name+"/"+way.name, func(b *testing.B) { runPlan(b, way.m, s.in, way.kept) })
		}
	}
}

func runPlan(b *testing.B, m *fx.GraphModule, in []*array.Array, kept int64) {
	_, err := m.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(b, err)
	exe, err := cpu.Compile(m.Module, lowering.Options{Threads: 1})
	require.NoError(b, err)
	out, err := exe.Run(ctx, in)
	require.NoError(b, err)
	for b.Loop() {
		if err := exe.RunInto(ctx, out, in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(kept), "kept-B")
}
