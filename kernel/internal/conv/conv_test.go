package conv

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

func TestConv(t *testing.T) {
	cases := []struct {
		name      string
		s         Conv
		x, w, out []int
		bias      bool
	}{
		{"3x3 pad 1", Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{2, 3, 6, 7}, []int{5, 3, 3, 3}, []int{2, 5, 6, 7}, true},
		{"7x7 stride 2", Conv{Stride: []int{2, 2}, PadLo: []int{3, 3}, PadHi: []int{3, 3}}, []int{1, 3, 19, 17}, []int{4, 3, 7, 7}, []int{1, 4, 10, 9}, false},
		{"1x1", Conv{}, []int{2, 7, 5, 4}, []int{6, 7, 1, 1}, []int{2, 6, 5, 4}, true},
		{"1x1 stride 2", Conv{Stride: []int{2, 2}}, []int{2, 4, 5, 5}, []int{6, 4, 1, 1}, []int{2, 6, 3, 3}, true},
		{"1x1 padded", Conv{PadLo: []int{1, 0}, PadHi: []int{0, 2}}, []int{1, 4, 3, 3}, []int{2, 4, 1, 1}, []int{1, 2, 4, 5}, true},
		{"asymmetric", Conv{Stride: []int{2, 1}, PadLo: []int{0, 2}, PadHi: []int{1, 0}}, []int{1, 2, 6, 5}, []int{3, 2, 3, 2}, []int{1, 3, 3, 6}, true},
		{"dilated", Conv{Dilation: []int{2, 3}, PadLo: []int{2, 1}, PadHi: []int{2, 1}}, []int{1, 2, 8, 9}, []int{3, 2, 3, 3}, []int{1, 3, 8, 5}, false},
		{"groups", Conv{Groups: 2, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{2, 6, 5, 5}, []int{4, 3, 3, 3}, []int{2, 4, 5, 5}, true},
		{"depthwise", Conv{Groups: 4, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{2, 4, 6, 9}, []int{4, 1, 3, 3}, []int{2, 4, 6, 9}, true},
		{"depthwise stride 2, 5x5", Conv{Groups: 3, Stride: []int{2, 2}, PadLo: []int{2, 2}, PadHi: []int{2, 2}}, []int{1, 3, 7, 8}, []int{3, 1, 5, 5}, []int{1, 3, 4, 4}, false},
		{"depthwise dilated", Conv{Groups: 2, Dilation: []int{2, 2}, PadLo: []int{2, 3}, PadHi: []int{2, 1}}, []int{1, 2, 6, 7}, []int{2, 1, 3, 3}, []int{1, 2, 6, 7}, true},
		{"depthwise multiplier", Conv{Groups: 2, Stride: []int{1, 2}}, []int{1, 2, 5, 9}, []int{6, 1, 3, 3}, []int{1, 6, 3, 4}, true},
		{"depthwise narrow", Conv{Groups: 2, PadLo: []int{4, 4}, PadHi: []int{4, 4}}, []int{1, 2, 1, 1}, []int{2, 1, 3, 3}, []int{1, 2, 7, 7}, true},
		{"one channel", Conv{Groups: 1}, []int{1, 1, 4, 4}, []int{1, 1, 3, 3}, []int{1, 1, 2, 2}, true},
		{"1d", Conv{Stride: []int{3}, PadLo: []int{2}, PadHi: []int{2}}, []int{2, 3, 17}, []int{4, 3, 5}, []int{2, 4, 6}, true},
		{"1d depthwise", Conv{Groups: 3, PadLo: []int{3}, PadHi: []int{0}}, []int{2, 3, 11}, []int{3, 1, 4}, []int{2, 3, 11}, true},
		{"3d", Conv{Stride: []int{1, 2, 1}, PadLo: []int{1, 1, 0}, PadHi: []int{1, 0, 1}}, []int{1, 2, 4, 5, 6}, []int{3, 2, 3, 2, 2}, []int{1, 3, 4, 3, 6}, true},
		{"3d depthwise", Conv{Groups: 2, PadLo: []int{1, 1, 1}, PadHi: []int{1, 1, 1}}, []int{1, 2, 3, 4, 5}, []int{2, 1, 3, 3, 3}, []int{1, 2, 3, 4, 5}, false},
		{"long sums", Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 80, 7, 7}, []int{9, 80, 3, 3}, []int{1, 9, 7, 7}, true},
		{"wide rows", Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 2, 20, 40}, []int{3, 2, 3, 3}, []int{1, 3, 20, 40}, true},
		{"no batch", Conv{}, []int{0, 2, 5, 5}, []int{3, 2, 3, 3}, []int{0, 3, 3, 3}, true},
		{"no input channels", Conv{}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 3, 3}, true},
		{"only padding", Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 2, 0, 3}, []int{3, 2, 2, 3}, []int{1, 3, 1, 3}, true},
	}
	for _, c := range cases {
		var bias []int
		if c.bias {
			bias = []int{c.w[0]}
		}
		kerneltest.StepCase{Name: c.name, Step: c.s, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x, c.w, bias}, Meaning: kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))}.Check(t)
	}
}

// A 1x1x3x3 image of 1..9 under a 2x2 kernel of ones, computed by hand.
func TestConvByHand(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	k := array.FromSlice([]float32{1, 1, 1, 1}, 1, 1, 2, 2)
	out := array.New(array.F32, 1, 1, 2, 2)
	kerneltest.RunStep(t, Conv{Groups: 1}, []*array.Array{out}, []*array.Array{x, k})
	require.Equal(t, []float32{12, 16, 24, 28}, array.Data[float32](out))

	// The transposed convolution of that result spreads each value over four cells.
	back := array.New(array.F32, 1, 1, 3, 3)
	kerneltest.RunStep(t, ConvTranspose{Groups: 1}, []*array.Array{back}, []*array.Array{out, k})
	require.Equal(t, []float32{12, 28, 16, 36, 80, 44, 24, 52, 28}, array.Data[float32](back))
}

func TestConvTranspose(t *testing.T) {
	cases := []struct {
		name      string
		s         ConvTranspose
		x, w, out []int
		bias      bool
	}{
		{"2x2 stride 2", ConvTranspose{Stride: []int{2, 2}}, []int{2, 3, 4, 5}, []int{3, 4, 2, 2}, []int{2, 4, 8, 10}, true},
		{"3x3 padded", ConvTranspose{Padding: []int{1, 1}}, []int{1, 3, 5, 4}, []int{3, 2, 3, 3}, []int{1, 2, 5, 4}, false},
		{"output padding", ConvTranspose{Stride: []int{2, 3}, Padding: []int{1, 0}, OutputPadding: []int{1, 2}}, []int{1, 2, 3, 4}, []int{2, 3, 3, 2}, []int{1, 3, 6, 13}, true},
		{"dilated", ConvTranspose{Dilation: []int{2, 3}, Padding: []int{1, 2}}, []int{1, 2, 4, 4}, []int{2, 3, 3, 2}, []int{1, 3, 6, 3}, true},
		{"groups", ConvTranspose{Groups: 2, Stride: []int{2, 2}}, []int{2, 4, 3, 3}, []int{4, 3, 3, 3}, []int{2, 6, 7, 7}, true},
		{"depthwise", ConvTranspose{Groups: 3, Stride: []int{2, 2}, Padding: []int{1, 1}}, []int{1, 3, 4, 4}, []int{3, 1, 4, 4}, []int{1, 3, 8, 8}, true},
		{"1d", ConvTranspose{Stride: []int{4}, Padding: []int{1}}, []int{2, 2, 5}, []int{2, 3, 6}, []int{2, 3, 20}, true},
		{"3d", ConvTranspose{Stride: []int{2, 1, 2}}, []int{1, 2, 2, 3, 2}, []int{2, 2, 2, 2, 3}, []int{1, 2, 4, 4, 5}, true},
		{"no batch", ConvTranspose{}, []int{0, 2, 3, 3}, []int{2, 1, 2, 2}, []int{0, 1, 4, 4}, true},
		{"no channels", ConvTranspose{}, []int{1, 0, 3, 3}, []int{0, 1, 2, 2}, []int{1, 1, 4, 4}, false},
		{"several column blocks", ConvTranspose{Stride: []int{2, 2}}, []int{1, 2, 12, 11}, []int{2, 600, 2, 2}, []int{1, 600, 24, 22}, true},
	}
	for _, c := range cases {
		var bias []int
		if c.bias {
			bias = []int{c.w[1] * max(c.s.Groups, 1)}
		}
		types := []array.DType{array.F32, array.F64, array.F16}
		if c.w[1] > 100 {
			types = types[:1]
		}
		kerneltest.StepCase{Name: c.name, Step: c.s, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x, c.w, bias}, Meaning: kerneltest.ConvTransposeMeaning(kerneltest.TransposeForm(c.s))}.Check(t, types...)
	}
}

func TestConvDoesNotAllocate(t *testing.T) {
	pad := []int{1, 1}
	x, b := array.New(array.F32, 2, 8, 20, 20), array.New(array.F32, 8)
	out := []*array.Array{array.New(array.F32, 2, 8, 20, 20)}
	kerneltest.RequireNoAllocs(t, Conv{Groups: 1, PadLo: pad, PadHi: pad}, out, []*array.Array{x, array.New(array.F32, 8, 8, 3, 3), b})
	kerneltest.RequireNoAllocs(t, Conv{Groups: 8, PadLo: pad, PadHi: pad}, out, []*array.Array{x, array.New(array.F32, 8, 1, 3, 3), b})
	kerneltest.RequireNoAllocs(t, Conv{Groups: 1}, out, []*array.Array{x, array.New(array.F32, 8, 8, 1, 1), b})
	kerneltest.RequireNoAllocs(t, ConvTranspose{Groups: 1, Padding: pad}, out, []*array.Array{x, array.New(array.F32, 8, 8, 3, 3), b})
}
