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
