package ptx

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// specials are numbers that functions have rules of their own for.
func specials(least, most float64) []float64 {
	all := []float64{0, 1, 0.5, 2, 3, 1.5, 1e-3, 7, 31, 89, 128, 1023, 1 << 24, 1<<24 - 1, 1 << 53, 1<<53 - 1, 1e30, least, 3 * least, most, most / 2, math.Inf(1)}
	for _, x := range all {
		all = append(all, -x)
	}
	return append(all, math.NaN(), math.Copysign(0, -1))
}

// same reports whether two floats are both NaN, the same infinity or the same zero, or neither.
func same(x, y float64) bool {
	switch {
	case x != x || y != y:
		return x != x && y != y
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return x == y
	case x == 0 || y == 0:
		return x == y && math.Signbit(x) == math.Signbit(y)
	}
	return math.Signbit(x) == math.Signbit(y)
}

func TestSpecialValues(t *testing.T) {
	lib := host(t)
	for name, f := range ones {
		x := specials(0x1p-1074, math.MaxFloat64)
		for i, g := range apply(t, lib, name, x, nil) {
			require.True(t, same(f(x[i]), g), "f64 %s(%v) is %v, want %v", name, x[i], g, f(x[i]))
		}
		if name == "erf" {
			continue
		}
		var narrow []float32
		for _, v := range specials(0x1p-149, math.MaxFloat32) {
			narrow = append(narrow, float32(v))
		}
		for i, g := range apply(t, lib, name, narrow, nil) {
			w := float64(float32(f(float64(narrow[i]))))
			require.True(t, same(w, float64(g)), "f32 %s(%v) is %v, want %v", name, narrow[i], g, w)
		}
	}
}

// pairs are all pairs of numbers.
func pairs(all []float64) (x, y []float64) {
	for _, a := range all {
		for _, b := range all {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

func narrowed(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

func TestPow(t *testing.T) {
	lib, limits := host(t), stated(t)
	x, y := pairs(specials(0x1p-1074, math.MaxFloat64))
	for i, g := range apply(t, lib, "pow", x, y) {
		w := math.Pow(x[i], y[i])
		require.True(t, same(w, g), "f64 pow(%v, %v) is %v, want %v", x[i], y[i], g, w)
	}
	x, y = pairs(specials(0x1p-149, math.MaxFloat32))
	nx, ny := narrowed(x), narrowed(y)
	for i, g := range apply(t, lib, "pow", nx, ny) {
		w := float64(float32(math.Pow(float64(nx[i]), float64(ny[i]))))
		require.True(t, same(w, float64(g)), "f32 pow(%v, %v) is %v, want %v", nx[i], ny[i], g, w)
	}
	r := rand.New(rand.NewPCG(3, 4))
	x, y = nil, nil
	for range 3000 { // results of every size
		a := math.Exp2(r.Float64()*200 - 100)
		x = append(x, a, 1+(r.Float64()-0.5)*0x1p-10, r.Float64()+0.5)
		for _, v := range x[len(x)-3:] {
			y = append(y, (2*r.Float64()-1)*740/math.Abs(math.Log(v)))
		}
	}
	worst := 0.0
	for i, g := range apply(t, lib, "pow", x, y) {
		if math.IsInf(y[i], 0) {
			continue
		}
		w := bigExp(mul(number(y[i]), bigLog(number(x[i]))))
		if w.MantExp(nil) > 1024 {
			require.True(t, math.IsInf(g, 1))
			continue
		}
		d := away(g, w, 53, -1074)
		require.True(t, d >= 0 && d <= limits["pow"][1], "f64 pow(%v, %v) is %v: %v", x[i], y[i], g, d)
		worst = max(worst, d)
	}
	t.Logf("f64: %.3f", worst)
	worst = 0
	nx, ny = narrowed(x), narrowed(y)
	for i := range ny {
		ny[i] /= 7
	}
	for i, g := range apply(t, lib, "pow", nx, ny) {
		w := math.Pow(float64(nx[i]), float64(ny[i]))
		d := away32(g, w)
		require.True(t, d >= 0 && d <= limits["pow"][0], "f32 pow(%v, %v) is %v, want %v: %v", nx[i], ny[i], g, w, d)
		worst = max(worst, d)
	}
	t.Logf("f32: %.3f", worst)
}

// TestWholeNumbersStayWhole: powers that a float holds are that float, as are logarithms of powers of two.
func TestWholeNumbersStayWhole(t *testing.T) {
	lib := host(t)
	var x, y, want []float64
	for b := 1.0; b < 200; b++ {
		w := 1.0
		for e := 0.0; w < 1<<53; e++ {
			x, y, want = append(x, b), append(y, e), append(want, w)
			if w *= b; e > 60 {
				break
			}
		}
	}
	require.Equal(t, want, apply(t, lib, "pow", x, y))
	for i, g := range apply(t, lib, "pow", narrowed(x), narrowed(y)) {
		if want[i] < 1<<24 {
			require.Equal(t, want[i], float64(g), "pow(%v, %v)", x[i], y[i])
		}
	}
	var exponents, powers []float64
	for k := -1074.0; k < 1024; k++ {
		exponents, powers = append(exponents, k), append(powers, math.Ldexp(1, int(k)))
	}
	twos := make([]float64, len(exponents))
	for i := range twos {
		twos[i] = 2
	}
	require.Equal(t, powers, apply(t, lib, "pow", twos, exponents))
	require.Equal(t, exponents, apply(t, lib, "log2", powers, nil))
}

// TestFmod: remainders are exact.
func TestFmod(t *testing.T) {
	lib := host(t)
	x, y := pairs(specials(0x1p-1074, math.MaxFloat64))
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		a, b := math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64())
		x, y = append(x, a, a), append(y, b, a*r.Float64()*0x1p-5)
	}
	for i, g := range apply(t, lib, "fmod", x, y) {
		w := math.Mod(x[i], y[i])
		require.True(t, w == g && math.Signbit(w) == math.Signbit(g) || w != w && g != g, "f64 fmod(%v, %v) is %v, want %v", x[i], y[i], g, w)
	}
	x, y = pairs(specials(0x1p-149, math.MaxFloat32))
	nx, ny := narrowed(x), narrowed(y)
	for range 20_000 {
		a, b := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		nx, ny = append(nx, a, a), append(ny, b, a*r.Float32()*0x1p-5)
	}
	for i, g := range apply(t, lib, "fmod", nx, ny) {
		w := float32(math.Mod(float64(nx[i]), float64(ny[i])))
		require.True(t, w == g && math.Signbit(float64(w)) == math.Signbit(float64(g)) || w != w && g != g, "f32 fmod(%v, %v) is %v, want %v", nx[i], ny[i], g, w)
	}
}
