package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFunctionsF32 compares with package math, whose f64 results are exact for
// this purpose: the distance is measured in units in the last place of f32.
func TestFunctionsF32(t *testing.T) {
	for _, k := range []struct {
		name string
		f    func(float64) float64
		ref  func(float64) float64
		span float64
	}{
		{"exp", exp32, math.Exp, 105},
		{"sigmoid", sigmoid32, sigmoid64, 106},
		{"tanh", tanh32, math.Tanh, 11},
		{"erf", erf32, math.Erf, 4.5},
		{"expm1", expm132, math.Expm1, 20},
		{"log", log32, math.Log, 4},
		{"log1p", log1p32, math.Log1p, 2},
		{"log2", log2of32, log2, 4},
		{"sin", sin32, math.Sin, 100},
		{"cos", cos32, math.Cos, 100},
		{"tan", tan32, math.Tan, 100},
		{"atan", atan32, math.Atan, 10},
		{"rsqrt", rsqrt32, func(x float64) float64 { return 1 / math.Sqrt(x) }, 10},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		worst, at := 0.0, float32(0)
		for i := range 200000 {
			x := float32((r.Float64()*2 - 1) * k.span)
			if i%3 == 0 {
				x = math.Float32frombits(r.Uint32())
			}
			want, got := k.ref(float64(x)), float32(k.f(float64(x)))
			if math.IsNaN(want) {
				require.True(t, got != got, "%s(%v)", k.name, x)
				continue
			}
			if math.Abs(want) > math.MaxFloat32 {
				require.Equal(t, float32(want), got, "%s(%v)", k.name, x)
				continue
			}
			w := math.Abs(want)
			ulp := math.Max(math.Ldexp(1, math.Ilogb(math.Max(w, 0x1p-200))-23), 0x1p-149)
			if e := math.Abs(float64(got)-want) / ulp; e > worst {
				worst, at = e, x
			}
		}
		require.LessOrEqual(t, worst, 0.55, "%s(%v)", k.name, at)
	}
}
