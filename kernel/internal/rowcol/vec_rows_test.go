package rowcol

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// TestRowAssembly compares the loops over rows with those of Go, bit by bit.
func TestRowAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, level := range kerneltest.VecLevels() {
		for n := 1; n < 200; n += 1 + n/40 {
			x, weight, bias := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], weight[i], bias[i] = float32(r.NormFloat64()*20), float32(r.NormFloat64()), float32(r.NormFloat64())
			}
			x[r.IntN(n)] = kerneltest.Edges[r.IntN(len(kerneltest.Edges))]
			bits := func(f func(level cpu.Level) float64) {
				t.Helper()
				a, b := f(cpu.Generic), f(level)
				require.True(t, a == b || a != a && b != b, "%d %v: %v, %v", n, level, a, b)
			}
			bits(func(l cpu.Level) float64 { return RowTotal(l, x) })
			bits(func(l cpu.Level) float64 { return RowSquares(l, x, 0.1) })
			bits(func(l cpu.Level) float64 { return float64(RowExtreme(l, false, x)) })
			same := func(f func(l cpu.Level, dst []float32) float64) {
				t.Helper()
				want, got := make([]float32, n), make([]float32, n+1)
				got[n] = 7
				bits(func(l cpu.Level) float64 {
					if l == cpu.Generic {
						return f(l, want)
					}
					return f(l, got[:n])
				})
				kerneltest.RequireSame(t, want, got[:n], level, n)
				require.Equal(t, float32(7), got[n])
			}
			same(func(l cpu.Level, d []float32) float64 { ExpShifted(l, d, x, RowExtreme(l, false, x)); return 0 })
			same(func(l cpu.Level, d []float32) float64 { RowAffine(l, d, x, 1, 0.3, 0.1, false); return 0 })
			same(func(l cpu.Level, d []float32) float64 { RowNormed(l, d, x, weight, bias, 0.1, 0.7, false); return 0 })
			same(func(l cpu.Level, d []float32) float64 { softmaxRow(l, d, x, false, false); return 0 })
			same(func(l cpu.Level, d []float32) float64 { softmaxRow(l, d, x, true, false); return 0 })
		}
	}
}

// TestExpShifted bounds the error in units in the last place.
func TestExpShifted(t *testing.T) {
	var x, d []float32
	for v := float32(0); v > -90; v -= 0.00731 {
		x = append(x, v)
	}
	d = make([]float32, len(x))
	kerneltest.EachLevel(t, func(t *testing.T) {
		ExpShifted(cpu.Host.Level, d, x, 0)
		require.Equal(t, float32(1), d[0])
		for i, v := range x {
			want := math.Exp(float64(v))
			ulp := math.Max(math.Ldexp(1, math.Ilogb(want)-23), 0x1p-149)
			require.Less(t, math.Abs(float64(d[i])-want), 1.5*ulp, "%v", v)
		}
		special := []float32{float32(math.Inf(-1)), -104, -1000, float32(math.NaN())}
		got := make([]float32, len(special))
		ExpShifted(cpu.Host.Level, got, special, 0)
		require.Equal(t, []float32{0, 0, 0}, got[:3])
		require.True(t, got[3] != got[3])
	})
}

// TestSoftmaxOfNothingFinite keeps the results of subtracting the maximum.
func TestSoftmaxOfNothingFinite(t *testing.T) {
	x, d := make([]float32, 40), make([]float32, 40)
	operand.FillBlock(x, float32(math.Inf(-1)))
	softmaxRow(cpu.Host.Level, d, x, false, false)
	require.True(t, math.IsNaN(float64(d[0])) && math.IsNaN(float64(d[39])))
}

func BenchmarkVecRows(b *testing.B) {
	const rows, n = 2048, 1024
	x, y := make([]float32, rows*n), make([]float32, rows*n)
	for i := range x {
		x[i] = float32(i % 17)
	}
	for name, f := range map[string]func(level cpu.Level, d, s []float32){
		"sum":     func(l cpu.Level, _, s []float32) { RowTotal(l, s) },
		"softmax": func(l cpu.Level, d, s []float32) { softmaxRow(l, d, s, false, false) },
		"layernorm": func(l cpu.Level, d, s []float32) {
			mean := RowTotal(l, s) / n
			RowNormed(l, d, s, x[:n], x[:n], mean, 1/math.Sqrt(RowSquares(l, s, mean)/n+1e-5), false)
		},
		"copy": func(_ cpu.Level, d, s []float32) { copy(d, s) },
	} {
		b.Run(name, func(b *testing.B) {
			kerneltest.BenchLevels(b, func(b *testing.B, level cpu.Level) {
				for b.Loop() {
					for i := 0; i < len(x); i += n {
						f(level, y[i:i+n], x[i:i+n])
					}
				}
				kerneltest.PerElement(b, len(x))
			})
		})
	}
}
