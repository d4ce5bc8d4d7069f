package array

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// value16 returns the value of a 16-bit float from its definition.
func value16(bits uint16, expBits, fracBits int) float64 {
	exp := int(bits>>fracBits) & (1<<expBits - 1)
	frac := float64(bits & (1<<fracBits - 1))
	bias := 1<<(expBits-1) - 1
	v := math.Ldexp(frac, 1-bias-fracBits)
	if exp == 1<<expBits-1 {
		v = math.Inf(1)
		if frac != 0 {
			v = math.NaN()
		}
	} else if exp != 0 {
		v = math.Ldexp(frac+float64(int(1)<<fracBits), exp-bias-fracBits)
	}
	if bits>>15 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}

func same(a, b float64) bool {
	return a != a && b != b || math.Float64bits(a) == math.Float64bits(b)
}

// Every 16-bit value, and around each the values half way to the next: the
// rounding of all others follows, since rounding is monotonic.
func TestSixteenBitFloatsExhaustively(t *testing.T) {
	for _, c := range []struct {
		name                string
		expBits, fracBits   int
		to32                func(uint16) float32
		from32              func(float32) uint16
		from64              func(float64) uint16
		inf                 uint16
		aboveTop            float64
		quietBit, canonical uint16
	}{
		{"half", 5, 10, func(u uint16) float32 { return Half(u).Float32() }, func(f float32) uint16 { return uint16(HalfFromFloat32(f)) },
			func(f float64) uint16 { return uint16(HalfFromFloat64(f)) }, 0x7c00, 65536, 0x200, 0x7e00},
		{"bfloat", 8, 7, func(u uint16) float32 { return BFloat(u).Float32() }, func(f float32) uint16 { return uint16(BFloatFromFloat32(f)) },
			func(f float64) uint16 { return uint16(BFloatFromFloat64(f)) }, 0x7f80, math.Ldexp(1, 128), 0x40, 0x7fc0},
	} {
		for u := range uint16(0xffff) {
			v := value16(u, c.expBits, c.fracBits)
			if !same(v, float64(c.to32(u))) {
				t.Fatalf("%s %#04x is %v, want %v", c.name, u, c.to32(u), v)
			}
			if v != v {
				if back := c.from32(c.to32(u)); back != u|c.quietBit {
					t.Fatalf("%s NaN %#04x comes back as %#04x", c.name, u, back)
				}
				continue
			}
			if c.from32(float32(v)) != u || c.from64(v) != u {
				t.Fatalf("%s %#04x does not come back", c.name, u)
			}
			if u&0x7fff >= c.inf {
				continue
			}
			next := value16(u+1, c.expBits, c.fracBits)
			if math.IsInf(next, 0) {
				next = math.Copysign(c.aboveTop, v)
			}
			mid := (v + next) / 2
			even := u + u&1
			for f, want := range map[float64]uint16{mid: even, math.Nextafter(mid, v): u, math.Nextafter(mid, next): u + 1} {
				if got := c.from64(f); got != want {
					t.Fatalf("%s of float64 %v is %#04x, want %#04x", c.name, f, got, want)
				}
			}
			m := float32(mid)
			if float64(m) != mid {
				continue // only the least subnormal of bfloat16 has no float32 half way
			}
			for f, want := range map[float32]uint16{m: even, math.Nextafter32(m, float32(v)): u, math.Nextafter32(m, float32(next)): u + 1} {
				if got := c.from32(f); got != want {
					t.Fatalf("%s of float32 %v is %#04x, want %#04x", c.name, f, got, want)
				}
			}
		}
		require.Equal(t, c.canonical, c.from64(math.NaN())&^0x8000|c.quietBit)
		require.Equal(t, c.inf, c.from64(1e300))
		require.Equal(t, c.inf|0x8000, c.from64(-1e300))
		require.Equal(t, uint16(0x8000), c.from64(-1e-300))
	}
}
