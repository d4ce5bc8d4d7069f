package pool

import (
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// BenchmarkMaxPoolPlaces times the pool of ResNet-18 with a batch of 8 and its indices.
func BenchmarkMaxPoolPlaces(b *testing.B) {
	kerneltest.BenchLevels(b, func(b *testing.B, level cpu.Level) {
		kerneltest.UseLevel(b, level)
		x := array.New(array.F32, 8, 64, 112, 112)
		copy(array.Data[float32](x), kerneltest.RandomFloats(rand.New(rand.NewPCG(1, 1)), x.Len()))
		out := []*array.Array{array.New(array.F32, 8, 64, 56, 56), array.New(array.I64, 8, 64, 56, 56)}
		w := &par.Workspace{}
		for b.Loop() {
			MaxPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}}.Run(w, out, []*array.Array{x})
		}
	})
}
