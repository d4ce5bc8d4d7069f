package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/stretchr/testify/require"
)

// Operands large enough for several chunks in every step: kerneltest.RunStep compares the
// bits of one and of four threads, and the first run with the bound on scratch.
func TestThreadsAgree(t *testing.T) {
	pad := []int{1, 1}
	img, chans := []int{2, 24, 40, 40}, []int{24}
	for _, c := range []struct {
		name    string
		step    Step
		out, in kerneltest.Shapes
	}{
		{"matmul", MatMul{}, kerneltest.Shapes{{2, 300, 600}}, kerneltest.Shapes{{2, 300, 270}, {2, 270, 600}}},
		{"thin matmul", MatMul{}, kerneltest.Shapes{{2, 900}}, kerneltest.Shapes{{2, 700}, {700, 900}}},
		{"linear", Linear{}, kerneltest.Shapes{{2, 900}}, kerneltest.Shapes{{2, 700}, {900, 700}, {900}}},
		{"conv", Conv{Groups: 1, PadLo: pad, PadHi: pad}, kerneltest.Shapes{img}, kerneltest.Shapes{img, {24, 24, 3, 3}, chans}},
		{"depthwise", Conv{Groups: 24, PadLo: pad, PadHi: pad}, kerneltest.Shapes{img}, kerneltest.Shapes{img, {24, 1, 3, 3}, chans}},
		{"transposed", ConvTranspose{Groups: 1, Padding: pad}, kerneltest.Shapes{img}, kerneltest.Shapes{img, {24, 24, 3, 3}, chans}},
		{"max pool", MaxPool{Kernel: pad}, kerneltest.Shapes{img}, kerneltest.Shapes{img}},
		{"avg pool", AvgPool{Kernel: []int{3, 3}, Stride: pad, PadLo: pad, PadHi: pad}, kerneltest.Shapes{img}, kerneltest.Shapes{img}},
		{"adaptive pool", AdaptiveAvgPool{Spatial: 2}, kerneltest.Shapes{{2, 24, 7, 7}}, kerneltest.Shapes{img}},
		{"batch norm", BatchNorm{Eps: 100}, kerneltest.Shapes{img}, kerneltest.Shapes{img, chans, chans, chans, chans}},
		{"batch stats", BatchNormStats{}, kerneltest.Shapes{{64}, {64}}, kerneltest.Shapes{{8, 64, 20, 20}}},
		{"layer norm", LayerNorm{Axes: 1, Eps: 1e-5}, kerneltest.Shapes{{300, 256}}, kerneltest.Shapes{{300, 256}, {256}, {256}}},
		{"softmax", Softmax{Dim: 1}, kerneltest.Shapes{{300, 256}}, kerneltest.Shapes{{300, 256}}},
		{"argmax", ArgReduce{Kind: "argmax", Dim: 1}, kerneltest.Shapes{{300}}, kerneltest.Shapes{{300, 256}}},
		{"gru", GRU{Layers: 2, Bidirectional: true, HasBias: true}, kerneltest.Shapes{{3, 40, 256}, {4, 40, 128}}, kerneltest.Shapes{{3, 40, 64}, {4, 40, 128},
			{384, 64}, {384, 128}, {384}, {384}, {384, 64}, {384, 128}, {384}, {384},
			{384, 256}, {384, 128}, {384}, {384}, {384, 256}, {384, 128}, {384}, {384}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			var out, in []*array.Array
			for _, s := range c.out {
				d := array.F32
				if _, ok := c.step.(ArgReduce); ok {
					d = array.I64
				}
				out = append(out, array.New(d, s...))
			}
			for _, s := range c.in {
				in = append(in, kerneltest.ToArray(kerneltest.RandomRef(r, s), array.F32, false))
			}
			kerneltest.RunStep(t, c.step, out, in)
			require.NotZero(t, kerneltest.ToRef(out[0]).V[0])
		})
	}
}
