package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRowAssembly compares the loops over rows with those of Go, bit by bit.
func TestRowAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, level := range vecLevels() {
		for n := 1; n < 200; n += 1 + n/40 {
			x, weight, bias := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range x {
				x[i], weight[i], bias[i] = float32(r.NormFloat64()*20), float32(r.NormFloat64()), float32(r.NormFloat64())
			}
			x[r.IntN(n)] = edges[r.IntN(len(edges))]
			bits := func(f func(level cpuLevel) float64) {
				t.Helper()
				a, b := f(levelGeneric), f(level)
				require.True(t, a == b || a != a && b != b, "%d %v: %v, %v", n, level, a, b)
			}
			bits(func(l cpuLevel) float64 { return rowTotal(l, x) })
			bits(func(l cpuLevel) float64 { return rowSquares(l, x, 0.1) })
			bits(func(l cpuLevel) float64 { return float64(rowExtreme(l, false, x)) })
			same := func(f func(l cpuLevel, dst []float32) float64) {
				t.Helper()
				want, got := make([]float32, n), make([]float32, n+1)
				got[n] = 7
				bits(func(l cpuLevel) float64 {
					if l == levelGeneric {
						return f(l, want)
					}
					return f(l, got[:n])
				})
				requireSame(t, want, got[:n], level, n)
				require.Equal(t, float32(7), got[n])
			}
			same(func(l cpuLevel, d []float32) float64 { expShifted(l, d, x, rowExtreme(l, false, x)); return 0 })
			same(func(l cpuLevel, d []float32) float64 { rowAffine(l, d, x, 1, 0.3, 0.1, false); return 0 })
			same(func(l cpuLevel, d []float32) float64 { rowNormed(l, d, x, weight, bias, 0.1, 0.7, false); return 0 })
			same(func(l cpuLevel, d []float32) float64 { softmaxRow(l, d, x, false, false); return 0 })
			same(func(l cpuLevel, d []float32) float64 { softmaxRow(l, d, x, true, false); return 0 })
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
	eachLevel(t, func(t *testing.T) {
		expShifted(cpu.level, d, x, 0)
		require.Equal(t, float32(1), d[0])
		for i, v := range x {
			want := math.Exp(float64(v))
			ulp := math.Max(math.Ldexp(1, math.Ilogb(want)-23), 0x1p-149)
			require.Less(t, math.Abs(float64(d[i])-want), 1.5*ulp, "%v", v)
		}
		special := []float32{float32(math.Inf(-1)), -104, -1000, float32(math.NaN())}
		got := make([]float32, len(special))
		expShifted(cpu.level, got, special, 0)
		require.Equal(t, []float32{0, 0, 0}, got[:3])
		require.True(t, got[3] != got[3])
	})
}

// TestSoftmaxOfNothingFinite keeps what subtracting the maximum gives.
func TestSoftmaxOfNothingFinite(t *testing.T) {
	x, d := make([]float32, 40), make([]float32, 40)
	fillBlock(x, float32(math.Inf(-1)))
	softmaxRow(cpu.level, d, x, false, false)
	require.True(t, math.IsNaN(float64(d[0])) && math.IsNaN(float64(d[39])))
}

func BenchmarkVecRows(b *testing.B) {
	const rows, n = 2048, 1024
	x, y := make([]float32, rows*n), make([]float32, rows*n)
	for i := range x {
		x[i] = float32(i % 17)
	}
	for name, f := range map[string]func(level cpuLevel, d, s []float32){
		"sum":     func(l cpuLevel, _, s []float32) { rowTotal(l, s) },
		"softmax": func(l cpuLevel, d, s []float32) { softmaxRow(l, d, s, false, false) },
		"layernorm": func(l cpuLevel, d, s []float32) {
			mean := rowTotal(l, s) / n
			rowNormed(l, d, s, x[:n], x[:n], mean, 1/math.Sqrt(rowSquares(l, s, mean)/n+1e-5), false)
		},
		"copy": func(_ cpuLevel, d, s []float32) { copy(d, s) },
	} {
		b.Run(name, func(b *testing.B) {
			benchLevels(b, func(b *testing.B, level cpuLevel) {
				for b.Loop() {
					for i := 0; i < len(x); i += n {
						f(level, y[i:i+n], x[i:i+n])
					}
				}
				perElement(b, len(x))
			})
		})
	}
}
