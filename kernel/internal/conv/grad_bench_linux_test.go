package conv

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// The convolutions of a step of ResNet-18 with a batch of 8: forwards with weights that are
// packed each time, and without; the gradient by the input, and as products that are added where
// their taps belong (columns); the gradient by the weight, and as a convolution in which batch and
// channels change places (exchanged). One after the other in each round: the least processor
// time of each as GFLOP/s.
func BenchmarkGradients(b *testing.B) {
	for _, c := range []struct{ chans, out, size, kernel, stride int }{
		{3, 64, 224, 7, 2}, {64, 64, 56, 3, 1}, {64, 128, 56, 3, 2}, {64, 128, 56, 1, 2}, {128, 128, 28, 3, 1}, {128, 256, 28, 3, 2},
		{128, 256, 28, 1, 2}, {256, 256, 14, 3, 1}, {256, 512, 14, 3, 2}, {256, 512, 14, 1, 2}, {512, 512, 7, 3, 1},
	} {
		b.Run(fmt.Sprintf("%d-%d-%dx%d-s%d-%d", c.chans, c.out, c.kernel, c.kernel, c.stride, c.size), func(b *testing.B) {
			pad := c.kernel / 2
			size := (c.size+2*pad-c.kernel)/c.stride + 1
			pads, strides := []int{pad, pad}, []int{c.stride, c.stride}
			rnd := rand.New(rand.NewPCG(1, 1))
			x := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{8, c.chans, c.size, c.size}), array.F32, false)
			y := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{8, c.out, size, size}), array.F32, false)
			wt := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{c.out, c.chans, c.kernel, c.kernel}), array.F32, false)
			dx, dy, dw := array.New(array.F32, x.Shape()...), array.New(array.F32, y.Shape()...), array.New(array.F32, wt.Shape()...)
			reach := (size-1)*c.stride + c.kernel
			px := kerneltest.ToArray(kerneltest.RandomRef(rnd, []int{c.chans, 8, reach, reach}), array.F32, false)
			ty, turned := array.Contiguous(array.Permute(y, 1, 0, 2, 3)), array.New(array.F32, c.chans, c.out, c.kernel, c.kernel)
			fwd := Conv{Stride: strides, PadLo: pads, PadHi: pads}
			pack := PackConv{Conv: fwd, In: []int{c.size, c.size}}
			packed := array.New(array.F32, PackedConvLen(fwd, pack.In, wt.Shape()))
			extra := c.size - ((size-1)*c.stride - 2*pad + c.kernel)
			w := &par.Workspace{}
			runs := []func(){
				func() {
					pack.Run(w, []*array.Array{packed}, []*array.Array{wt})
					ConvPacked{Conv: fwd, Channels: c.out, Kernel: wt.Shape()[2:], In: pack.In}.Run(w, []*array.Array{dy}, []*array.Array{x, packed})
				},
				func() { fwd.Run(w, []*array.Array{dy}, []*array.Array{x, wt}) },
				func() {
					ConvTranspose{Stride: strides, Padding: pads, OutputPadding: []int{extra, extra}}.Run(w, []*array.Array{dx}, []*array.Array{y, wt})
				},
				func() { // as it was: products that are added where their taps belong
					mark := w.Mark()
					g := ConvTranspose{Stride: strides, Padding: pads}.geometry(dx, y, wt)
					clear(array.Data[float32](dx))
					sum := columns[float32]{Spatial: g, batch: 8, groups: 1, m: c.chans, k: c.out, dst: array.Data[float32](dx), src: array.Data[float32](y), weight: array.Data[float32](wt)}
					sum.add(w)
					w.Release(mark)
				},
				func() { Conv{Dilation: strides}.Run(w, []*array.Array{turned}, []*array.Array{px, ty}) },
				func() {
					ConvWeightGrad{Stride: strides, PadLo: pads}.Run(w, []*array.Array{dw}, []*array.Array{x, y})
				},
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			least := make([]float64, len(runs))
			for b.Loop() {
				for i, f := range runs {
					start := spent()
					f()
					if d := spent() - start; least[i] == 0 || d < least[i] {
						least[i] = d
					}
				}
			}
			flops := 2e-9 * float64(8*size*size*c.out*c.chans*c.kernel*c.kernel)
			for i, name := range []string{"packed", "plain", "input", "columns", "exchanged", "weight"} {
				b.ReportMetric(flops/least[i], name+"-GFLOP/s")
			}
		})
	}
}

// spent is the processor time of this thread in seconds.
func spent() float64 {
	var t syscall.Timespec
	const thread = 3 // CLOCK_THREAD_CPUTIME_ID
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, thread, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e)
	}
	return float64(t.Nano()) / 1e9
}
