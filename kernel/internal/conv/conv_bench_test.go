package conv

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// The convolutions of ResNet-50, depthwise and expanding ones of MobileNet and
// EfficientNet, and the groups of ResNeXt-50.
func BenchmarkConv(b *testing.B) {
	shapes := []struct{ chans, out, size, kernel, stride, groups int }{
		{3, 64, 224, 7, 2, 1}, {64, 64, 56, 1, 1, 1}, {64, 64, 56, 3, 1, 1}, {64, 256, 56, 1, 1, 1}, {256, 64, 56, 1, 1, 1},
		{256, 128, 56, 1, 1, 1}, {128, 128, 56, 3, 2, 1}, {256, 512, 56, 1, 2, 1}, {128, 128, 28, 3, 1, 1}, {128, 512, 28, 1, 1, 1},
		{512, 128, 28, 1, 1, 1}, {512, 256, 28, 1, 1, 1}, {256, 256, 28, 3, 2, 1}, {512, 1024, 28, 1, 2, 1}, {256, 256, 14, 3, 1, 1},
		{256, 1024, 14, 1, 1, 1}, {1024, 256, 14, 1, 1, 1}, {1024, 512, 14, 1, 1, 1}, {512, 512, 14, 3, 2, 1}, {1024, 2048, 14, 1, 2, 1},
		{512, 512, 7, 3, 1, 1}, {512, 2048, 7, 1, 1, 1}, {2048, 512, 7, 1, 1, 1},
		{96, 96, 112, 3, 1, 96}, {96, 96, 112, 3, 2, 96}, {240, 240, 28, 5, 1, 240}, {960, 960, 7, 5, 1, 960},
		{3, 32, 224, 3, 2, 1}, {16, 96, 112, 1, 1, 1}, {96, 576, 14, 1, 1, 1}, {80, 480, 14, 1, 1, 1}, {576, 96, 14, 1, 1, 1}, {160, 960, 7, 1, 1, 1},
		{128, 128, 56, 3, 1, 32}, {256, 256, 56, 3, 2, 32}, {256, 256, 28, 3, 1, 32}, {512, 512, 28, 3, 2, 32},
		{512, 512, 14, 3, 1, 32}, {1024, 1024, 14, 3, 2, 32}, {1024, 1024, 7, 3, 1, 32},
	}
	for _, threads := range []int{1, 2} {
		for _, c := range shapes {
			pad := c.kernel / 2
			size := (c.size+2*pad-c.kernel)/c.stride + 1
			s := ConvPacked{Conv: Conv{Groups: c.groups, Stride: []int{c.stride, c.stride}, PadLo: []int{pad, pad}, PadHi: []int{pad, pad}},
				Channels: c.out, Kernel: []int{c.kernel, c.kernel}, In: []int{c.size, c.size}, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
			packed := array.New(array.F32, PackedConvLen(s.Conv, s.In, []int{c.out, c.chans / c.groups, c.kernel, c.kernel}))
			in := []*array.Array{array.New(array.F32, 1, c.chans, c.size, c.size), packed, array.New(array.F32, c.out)}
			out := []*array.Array{array.New(array.F32, 1, c.out, size, size)}
			w := &par.Workspace{Threads: threads}
			b.Run(fmt.Sprintf("%d-%d-%dx%d-s%d-g%d-%dx%d/threads=%d", c.chans, c.out, c.kernel, c.kernel, c.stride, c.groups, c.size, c.size, threads), func(b *testing.B) {
				kerneltest.BenchShare(b, gemm.PeakRun, threads, c.out*c.chans/c.groups*c.kernel*c.kernel*size*size, func() { s.Run(w, out, in) })
			})
		}
	}
}
