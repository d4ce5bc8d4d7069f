package conv

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BenchmarkTransforms times convolutions of 3x3 filters that change, as steps of training have them:
// gradients by the weight by direct sums and by transforms; and as plans have them, forwards and
// by the input. One after the other in each round: the least processor time of each.
func BenchmarkTransforms(b *testing.B) {
	for _, c := range []struct{ batch, chans, out, size int }{
		{8, 64, 64, 56}, {8, 128, 128, 28}, {8, 256, 256, 14}, {8, 512, 512, 7}, {1, 64, 64, 56}, {1, 128, 128, 28}, {1, 256, 256, 14}, {1, 512, 512, 7},
		{32, 512, 512, 7}, {8, 16, 16, 32}, {8, 32, 32, 32}, {8, 64, 64, 8}, {8, 512, 512, 4}, {8, 512, 512, 2}, {8, 64, 64, 224}, {2, 512, 512, 28}, {8, 48, 48, 30},
	} {
		b.Run(fmt.Sprintf("%d-%d-%d-%d", c.batch, c.chans, c.out, c.size), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 1))
			random := func(dims ...int) *array.Array {
				a := array.New(array.F32, dims...)
				copy(array.Data[float32](a), kerneltest.RandomFloats(rnd, a.Len()))
				return a
			}
			x, y, weight := random(c.batch, c.chans, c.size, c.size), random(c.batch, c.out, c.size, c.size), random(c.out, c.chans, 3, 3)
			dx, dy, dw := array.New(array.F32, x.Shape()...), array.New(array.F32, y.Shape()...), array.New(array.F32, weight.Shape()...)
			one, images := []int{1, 1}, []int{c.batch, c.size, c.size}
			w := &par.Workspace{}
			runs := []struct {
				name    string
				step    par.Step
				out     *array.Array
				in      []*array.Array
				seconds float64
			}{
				{name: "direct", step: ConvWeightGrad{PadLo: one}, out: dw, in: []*array.Array{x, y}},
				{name: "weight", step: ConvWeightGrad{PadLo: one, Winograd: true}, out: dw, in: []*array.Array{x, y}},
				{name: "forward", step: ConvFused{Conv: Conv{PadLo: one, PadHi: one}, In: images}, out: dy, in: []*array.Array{x, weight}},
				{name: "input", step: ConvTransposeFused{ConvTranspose: ConvTranspose{Padding: one}, In: images}, out: dx, in: []*array.Array{y, weight}},
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for b.Loop() {
				for i := range runs {
					r := &runs[i]
					start := spent()
					r.step.Run(w, []*array.Array{r.out}, r.in)
					if d := spent() - start; r.seconds == 0 || d < r.seconds {
						r.seconds = d
					}
				}
			}
			for _, r := range runs {
				b.ReportMetric(r.seconds*1e3, r.name+"-ms")
			}
		})
	}
}
