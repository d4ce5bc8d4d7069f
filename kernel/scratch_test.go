package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestScratchIsTheSameOnEveryMachine holds that generated code may say how much
// memory it takes: the sizes do not depend on the CPU.
func TestScratchIsTheSameOnEveryMachine(t *testing.T) {
	f32 := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	for name, c := range map[string]struct {
		step    Scratcher
		out, in []*array.Array
	}{
		"linear":       {Linear{}, []*array.Array{f32(5, 70)}, []*array.Array{f32(5, 300), f32(70, 300), nil}},
		"thin linear":  {Linear{}, []*array.Array{f32(1, 70)}, []*array.Array{f32(1, 300), f32(70, 300), nil}},
		"matmul":       {MatMul{}, []*array.Array{f32(64, 48)}, []*array.Array{f32(64, 96), f32(96, 48)}},
		"batch":        {MatMul{}, []*array.Array{f32(12, 32, 32)}, []*array.Array{f32(12, 32, 64), f32(12, 64, 32)}},
		"conv":         {Conv{PadLo: []int{1, 1}}, []*array.Array{f32(1, 16, 14, 14)}, []*array.Array{f32(1, 8, 14, 14), f32(16, 8, 3, 3), nil}},
		"strided conv": {Conv{Stride: []int{2, 2}}, []*array.Array{f32(2, 16, 7, 7)}, []*array.Array{f32(2, 8, 14, 14), f32(16, 8, 1, 1), nil}},
		"depthwise":    {Conv{PadLo: []int{1, 1}, Groups: 8}, []*array.Array{f32(1, 8, 14, 14)}, []*array.Array{f32(1, 8, 14, 14), f32(8, 1, 3, 3), nil}},
		"pointwise":    {Conv{}, []*array.Array{f32(1, 16, 14, 14)}, []*array.Array{f32(1, 8, 14, 14), f32(16, 8, 1, 1), nil}},
		"transposed":   {ConvTranspose{}, []*array.Array{f32(1, 4, 16, 16)}, []*array.Array{f32(1, 8, 14, 14), f32(8, 4, 3, 3), nil}},
		"softmax":      {Softmax{Dim: 1}, []*array.Array{f32(3, 100)}, []*array.Array{f32(3, 100)}},
		"attention":    {Attention{}, []*array.Array{f32(2, 50, 20)}, []*array.Array{f32(2, 50, 24), f32(2, 90, 24), f32(2, 90, 20)}},
		"lstm":         {LSTM{Layers: 1}, []*array.Array{f32(5, 9, 8), nil, nil}, []*array.Array{f32(5, 9, 6), nil, nil, f32(32, 6), f32(32, 8)}},
		"lstm layer":   {LSTMLayer{}, []*array.Array{f32(5, 9, 8), nil, nil}, []*array.Array{f32(5, 9, 6), nil, nil, f32(32, 6), f32(32, 8)}},
		"lstm back":    {LSTMLayerGrad{}, []*array.Array{f32(5, 9, 32), nil, nil}, []*array.Array{f32(5, 9, 32), f32(5, 9, 8), nil, f32(32, 8)}},
		"layer norm":   {LayerNorm{Axes: 1}, []*array.Array{f32(3, 100)}, []*array.Array{f32(3, 100), nil, nil}},
	} {
		want := c.step.ScratchBytes(c.out, c.in)
		kerneltest.EachLevel(t, func(t *testing.T) { require.Equal(t, want, c.step.ScratchBytes(c.out, c.in), name) })
	}
}
