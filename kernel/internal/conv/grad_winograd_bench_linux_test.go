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

// BenchmarkWeightGradWinograd times gradients of 3x3 filters by direct sums and by transforms,
// one after the other in each round: the least processor time of each.
func BenchmarkWeightGradWinograd(b *testing.B) {
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
			in := []*array.Array{random(c.batch, c.chans, c.size, c.size), random(c.batch, c.out, c.size, c.size)}
			out := []*array.Array{array.New(array.F32, c.out, c.chans, 3, 3)}
			s := ConvWeightGrad{Stride: []int{1, 1}, PadLo: []int{1, 1}}
			t := s
			t.Winograd = true
			w := &par.Workspace{}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			least := [2]float64{}
			for b.Loop() {
				for i, k := range []ConvWeightGrad{s, t} {
					start := spent()
					k.Run(w, out, in)
					if d := spent() - start; least[i] == 0 || d < least[i] {
						least[i] = d
					}
				}
			}
			b.ReportMetric(least[0]*1e3, "direct-ms")
			b.ReportMetric(least[1]*1e3, "winograd-ms")
			b.ReportMetric(least[1]/least[0], "ratio")
		})
	}
}
