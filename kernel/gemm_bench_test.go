package kernel

import (
	"fmt"
	"testing"
	"time"
)

// fmaPeak measures the multiply-adds of one thread just now, in GFLOP/s.
func fmaPeak(l cpuLevel) float64 {
	best := 0.0
	for range 5 {
		t := time.Now()
		flops := peakRun(l, 200000)
		best = max(best, flops/float64(time.Since(t).Nanoseconds()))
	}
	return best
}

// reportShare reports the rate of n multiply-adds an iteration and its share of the peak.
func reportShare(b *testing.B, threads int, n float64) {
	rate := 2 * n * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(rate, "GFLOP/s")
	if peak := fmaPeak(cpu.level); peak > 0 {
		b.ReportMetric(rate/peak/float64(threads), "peak-share")
	}
}

func BenchmarkGemmPeak(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, s := range [][3]int{{64, 64, 64}, {128, 768, 768}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {1, 1024, 1024}, {8, 1024, 1024}} {
			m, n, k := s[0], s[1], s[2]
			x, y, z := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
			w := &Workspace{Threads: threads}
			for _, trans := range []bool{false, true} {
				ld := n
				if trans {
					ld = k
				}
				b.Run(fmt.Sprintf("%dx%dx%d/transB=%v/threads=%d", m, n, k, trans, threads), func(b *testing.B) {
					for b.Loop() {
						Gemm(w, false, trans, m, n, k, x, k, y, ld, z, n, false)
					}
					reportShare(b, threads, float64(m*n*k))
				})
			}
		}
	}
}
