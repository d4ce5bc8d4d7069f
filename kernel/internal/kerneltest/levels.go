package kerneltest

import (
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// top is the highest level of this process, which GOFX_CPU lowers.
var top = cpu.Host.Level

// Levels lists the levels of this process, lowest first.
func Levels() []cpu.Level {
	switch top {
	case cpu.AVX512:
		return []cpu.Level{cpu.Generic, cpu.AVX2, cpu.AVX512}
	case cpu.Generic:
		return []cpu.Level{cpu.Generic}
	}
	return []cpu.Level{cpu.Generic, top}
}

// UseLevel makes kernels use a level until the test ends.
func UseLevel(t testing.TB, l cpu.Level) {
	old := cpu.Host
	cpu.Host.Level = l
	t.Cleanup(func() { cpu.Host = old })
}

// EachLevel runs a test at every level of this process.
func EachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) {
			UseLevel(t, l)
			f(t)
		})
	}
}

// QLevels runs f at every level of this process, also without its dot products, and without the
// permutations of bytes that some processors with dot products lack.
func QLevels(t testing.TB, f func(level string)) {
	t.Helper()
	old, has := cpu.Host, cpu.Detect()
	defer func() { cpu.Host = old }()
	for _, l := range Levels() {
		cpu.Host = cpu.Features{Level: l}
		f(l.String())
		if l == cpu.AVX512 && has.Vnni || l == cpu.NEON && has.Dot {
			cpu.Host = cpu.Features{Level: l, Vnni: true, Dot: has.Dot}
			f(l.String() + "+dot")
			if cpu.Host.Vbmi = has.Vbmi; has.Vbmi {
				f(l.String() + "+dot+permutations")
			}
		}
	}
}

// BenchLevels runs a benchmark at every level.
func BenchLevels(b *testing.B, f func(b *testing.B, level cpu.Level)) {
	for _, level := range append([]cpu.Level{cpu.Generic}, VecLevels()...) {
		b.Run(level.String(), func(b *testing.B) { f(b, level) })
	}
}

// PerElement reports the time an element.
func PerElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

// VecLevels are the levels with assembly that this machine and GOFX_CPU allow.
func VecLevels() []cpu.Level {
	var levels []cpu.Level
	for l := cpu.AVX2; l <= cpu.Host.Level; l++ {
		if vmath.StripCode(l) != nil {
			levels = append(levels, l)
		}
	}
	return levels
}

// WinogradLevels are the levels whose products Winograd's convolution can use.
func WinogradLevels(t *testing.T, f func(t *testing.T)) {
	for _, l := range Levels() {
		if l == cpu.Generic {
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			UseLevel(t, l)
			f(t)
		})
	}
}

// BrainLevels runs a test at every level of this process, also without its products of bf16.
func BrainLevels(t *testing.T, f func(t *testing.T)) {
	EachLevel(t, f)
	if !cpu.HasPairs() {
		return
	}
	t.Run("avx512 without bf16", func(t *testing.T) {
		UseLevel(t, cpu.AVX512)
		cpu.Host.Bf16 = false
		f(t)
	})
}
