package gemm

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func BenchmarkGemm(b *testing.B) {
	sizes := [][3]int{{64, 64, 64}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {1, 1024, 1024}, {8, 1024, 1024}, {128, 768, 768}, {128, 3072, 768}}
	for _, threads := range []int{1, 2} {
		for _, s := range sizes {
			m, n, k := s[0], s[1], s[2]
			x, y, z := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
			w := &par.Workspace{Threads: threads}
			packed := PackB(w, false, k, n, y, n)
			name := fmt.Sprintf("%dx%dx%d/threads=%d/", m, n, k, threads)
			b.Run(name+"plain", func(b *testing.B) {
				kerneltest.BenchShare(b, PeakRun, threads, m*n*k, func() { Gemm(w, false, false, m, n, k, x, k, y, n, z, n, false) })
			})
			b.Run(name+"transB", func(b *testing.B) {
				kerneltest.BenchShare(b, PeakRun, threads, m*n*k, func() { Gemm(w, false, true, m, n, k, x, k, y, k, z, n, false) })
			})
			b.Run(name+"packed", func(b *testing.B) {
				kerneltest.BenchShare(b, PeakRun, threads, m*n*k, func() { packed.Gemm(w, false, m, x, k, z, n, false) })
			})
		}
	}
}

// BenchmarkRows multiplies rows, about as many as a text or an image has, with packed weights that come from memory: 96 MiB
// of them, one after the other.
func BenchmarkRows(b *testing.B) {
	for _, s := range [][2]int{{768, 768}, {2304, 768}, {3072, 768}, {3136, 768}, {2560, 768}, {4096, 1024}, {768, 3072}} {
		n, k := s[0], s[1]
		w := &par.Workspace{}
		weights := make([]PackedB, 96<<20/(4*n*k))
		y := make([]float32, n*k)
		for i := range y {
			y[i] = float32(i%7) - 3
		}
		for i := range weights {
			weights[i] = PackB(w, false, k, n, y, n)
		}
		for _, m := range []int{128, 196, 197, 200, 210, 256, 1024, 1576} {
			x, z := make([]float32, m*k), make([]float32, m*n)
			b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
				at := 0
				kerneltest.BenchShare(b, PeakRun, 1, m*n*k, func() {
					weights[at].Gemm(w, false, m, x, k, z, n, false)
					at = (at + 1) % len(weights)
				})
			})
		}
	}
}
