package kerneltest

import (
	"testing"
	"time"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// fmaPeak measures the multiply-adds of one thread just now, in GFLOP/s.
func fmaPeak(l cpu.Level, peakRun func(cpu.Level, int) float64) float64 {
	best := 0.0
	for range 10 {
		t := time.Now()
		flops := peakRun(l, 100000)
		best = max(best, flops/float64(time.Since(t).Nanoseconds()))
	}
	return best
}

// BenchShare runs f, which does the given number of multiply-adds, and reports
// the rate of its fastest run and its share of the peak, which is measured
// alongside.
func BenchShare(b *testing.B, peakRun func(cpu.Level, int) float64, threads, macs int, f func()) {
	best, peak := time.Hour, fmaPeak(cpu.Host.Level, peakRun)
	for b.Loop() {
		t := time.Now()
		f()
		best = min(best, time.Since(t))
	}
	peak = max(peak, fmaPeak(cpu.Host.Level, peakRun))
	rate := 2 * float64(macs) / float64(max(best.Nanoseconds(), 1))
	b.ReportMetric(rate, "GFLOP/s")
	if peak > 0 {
		b.ReportMetric(rate/peak/float64(threads), "peak-share")
	}
}
