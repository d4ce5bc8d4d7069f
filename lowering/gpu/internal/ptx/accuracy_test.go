package ptx

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/internal/testkit/clib"
)

// host compiles the functions of the headers for the processor.
func host(t *testing.T) *dynlib.Library {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the headers are compiled for the processor on linux")
	}
	out := filepath.Join(t.TempDir(), "host.so")
	clib.CXX.Build(t, out, "-std=c++17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-I.", filepath.Join("testdata", "host.cc"))
	lib, err := dynlib.Open(out)
	require.NoError(t, err)
	return lib
}

// apply computes a function of the library for all arguments; y may be nil.
func apply[T float32 | float64](t *testing.T, lib *dynlib.Library, name string, x, y []T) []T {
	kind := "f32_"
	if unsafe.Sizeof(x[0]) == 8 {
		kind = "f64_"
	}
	f := lib.Lookup(kind + name)
	require.NotZero(t, f, kind+name)
	if y == nil {
		y = x
	}
	out := make([]T, len(x))
	dynlib.Call(f, uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&y[0])), uintptr(unsafe.Pointer(&out[0])), uintptr(len(x)))
	runtime.KeepAlive([][]T{x, y, out})
	return out
}

// ones are the functions of one argument, as Go has them.
var ones = map[string]func(float64) float64{
	"exp": math.Exp, "expm1": math.Expm1, "log": math.Log, "log2": math.Log2, "log1p": math.Log1p, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
	"atan": math.Atan, "tanh": math.Tanh, "erf": math.Erf,
}

// stated reads how far functions are from the truth: the rows of a table in docs/devices.md,
// a function, units of the last place of f32 and of f64.
func stated(t *testing.T) map[string][2]float64 {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "devices.md"))
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "| function | f32 | f64 |\n")
	require.True(t, ok, "the page has no table of functions")
	all := map[string][2]float64{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		name := strings.Trim(cells[1], " `")
		f32, err1 := strconv.ParseFloat(strings.TrimSpace(cells[2]), 64)
		f64, err2 := strconv.ParseFloat(strings.TrimSpace(cells[3]), 64)
		if err2 == nil && (err1 == nil || name == "erf") {
			all[name] = [2]float64{f32, f64}
		}
	}
	require.Len(t, all, len(ones)+1, "a row for each function and for pow")
	return all
}

// away returns by how many units of the last place of a float with so many bits in its mantissa,
// and an exponent down to least, got is away from want; -1 where one is NaN, infinite or a zero
// and the other is not, or has another sign. 0 for what is too small to have a unit is as good as it.
func away(got float64, want *big.Float, bits, least int) float64 {
	unit := max(want.MantExp(nil)-bits, least)
	if math.IsNaN(got) {
		return -1
	}
	if math.IsInf(got, 0) { // as if it was the number after the largest
		top := 1024
		if bits == 24 {
			top = 128
		}
		if want.MantExp(nil) < top {
			return -1
		}
		if want.MantExp(nil) > top {
			return 0
		}
		unit = top - bits
		d := sub(new(big.Float).SetMantExp(number(1), top), new(big.Float).Abs(want))
		f, _ := d.SetMantExp(d, -unit).Float64()
		return f
	}
	d := sub(number(got), want)
	f, _ := d.SetMantExp(d, -unit).Float64()
	return math.Abs(f)
}

// TestFloats32 sweeps the bit patterns of f32, all of them where GOFX_NIGHTLY is
// "all", which takes hours.
func TestFloats32(t *testing.T) {
	lib, limits := host(t), stated(t)
	step := uint64(12_347)
	switch os.Getenv("GOFX_NIGHTLY") {
	case "":
	case "all":
		step = 1
	default:
		step = 211
	}
	const at = 1 << 16
	for name, truth := range ones {
		if name == "erf" {
			continue
		}
		worst, where := 0.0, float32(0)
		x := make([]float32, 0, at)
		flush := func() {
			got := apply(t, lib, name, x, nil)
			for i, g := range got {
				w := truth(float64(x[i]))
				if d := away32(g, w); d > worst || d < 0 {
					worst, where = math.Abs(d), x[i]
					require.GreaterOrEqual(t, d, 0.0, "%s(%v) is %v, want %v", name, x[i], g, w)
				}
			}
			x = x[:0]
		}
		for u := uint64(0); u < 1<<32; u += step {
			if x = append(x, math.Float32frombits(uint32(u))); len(x) == at {
				flush()
			}
		}
		flush()
		t.Logf("%s: %.3f at %v", name, worst, where)
		require.LessOrEqual(t, worst, limits[name][0], "%s(%v)", name, where)
	}
}

// away32 is away for a float32 and a truth whose own error does not count.
func away32(g float32, w float64) float64 {
	got := float64(g)
	near := float32(w)
	switch {
	case w != w || got != got:
		if w != w && got != got {
			return 0
		}
		return -1
	case math.Signbit(got) != math.Signbit(w), w == 0 && g != 0:
		return -1
	case g == near && (g == 0 || math.IsInf(got, 0)):
		return 0
	}
	if math.IsInf(w, 0) {
		w = math.Copysign(math.MaxFloat64, w)
	}
	return away(got, number(w), 24, -149)
}

// doublesOf returns arguments: of every size, and where functions change what they do.
func doublesOf(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 0, n)
	for len(x) < n {
		u := 2*r.Float64() - 1
		x = append(x, math.Float64frombits(r.Uint64()&^(1<<62)|uint64(r.IntN(2))<<62), u*4, u*800, math.Ldexp(u, r.IntN(80)-40), u)
		k := float64(r.IntN(1 << 20))
		x = append(x, math.Nextafter(k*math.Pi/2, u*1e9), 1+u*0x1p-20)
	}
	return x
}

// hardAngles returns numbers q 2^e of so many bits that are nearest to multiples of pi/2: q is the
// denominator of a convergent of 2^e 2/pi.
func hardAngles(bits, most int) []float64 {
	one := new(big.Float).SetPrec(1600).SetInt64(1)
	den, _ := new(big.Float).SetMantExp(quo(pi(), one), 1590).Int(nil)
	var all []float64
	for e := 1 - bits; e <= most; e += 3 {
		a, b := new(big.Int).Lsh(big.NewInt(2), uint(1590)), new(big.Int).Set(den)
		if e >= 0 {
			a.Lsh(a, uint(e))
		} else {
			b.Lsh(b, uint(-e))
		}
		q0, q1 := big.NewInt(1), big.NewInt(0)
		for b.Sign() != 0 && q1.BitLen() <= bits {
			n, rest := new(big.Int).QuoRem(a, b, new(big.Int))
			a, b = b, rest
			q0, q1 = q1, new(big.Int).Add(n.Mul(n, q1), q0)
			if l := q1.BitLen(); l <= bits && l > bits-8 {
				x, _ := new(big.Float).SetInt(q1).Float64()
				all = append(all, math.Ldexp(x, e))
			}
		}
	}
	return all
}

// TestHardAngles: next to multiples of pi/2 all leading bits cancel, of some doubles more than sixty.
func TestHardAngles(t *testing.T) {
	lib, limits := host(t), stated(t)
	x := hardAngles(24, 104)
	require.Greater(t, len(x), 100)
	require.Contains(t, hardAngles(53, 970), 6381956970095103*0x1p797, "the hardest double")
	for _, name := range []string{"sin", "cos", "tan"} {
		worst := 0.0
		for i, g := range apply(t, lib, name, narrowed(x), nil) {
			d := away(float64(g), truths[name](number(x[i])), 24, -149)
			require.True(t, d >= 0 && d <= limits[name][0], "%s(%v) is %v: %v", name, x[i], g, d)
			worst = max(worst, d)
		}
		t.Logf("%s: %.3f of %d", name, worst, len(x))
	}
}

func TestFloats64(t *testing.T) {
	lib, limits := host(t), stated(t)
	n := 2100
	if os.Getenv("GOFX_NIGHTLY") != "" {
		n *= 40
	}
	all := append(doublesOf(n), hardAngles(53, 970)...)
	for name, truth := range truths {
		worst, where, count := 0.0, 0.0, 0
		for i, g := range apply(t, lib, name, all, nil) {
			x := all[i]
			switch rough := ones[name](x); {
			case math.IsNaN(rough) || math.IsInf(rough, 0) || rough == 0:
				require.True(t, rough == g || rough != rough && g != g, "%s(%v) is %v, want %v", name, x, g, rough)
				continue
			case math.Abs(x) < 0x1p-70 && name != "log" && name != "log2" && name != "exp" && name != "cos" && name != "erf": // x, except its last bits
				require.Equal(t, x, g, "%s(%v)", name, x)
				continue
			case name == "erf" && math.Abs(x) > 7, name == "tanh" && math.Abs(x) > 30, name == "expm1" && x < -60: // one, within half a unit
				require.Equal(t, math.Copysign(1, x), g, "%s(%v)", name, x)
				continue
			}
			count++
			w := truth(number(x))
			if d := away(g, w, 53, -1074); d > worst || d < 0 {
				worst, where = math.Abs(d), x
				require.GreaterOrEqual(t, d, 0.0, "%s(%v) is %v, want %v", name, x, g, w)
			}
		}
		t.Logf("%s: %.3f at %v, of %d", name, worst, where, count)
		require.Greater(t, count, 100, name)
		require.LessOrEqual(t, worst, limits[name][1], "%s(%v)", name, where)
	}
}
