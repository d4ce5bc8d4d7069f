package array

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCastRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := FromSlice([]float64{0, 1.9, -1.9, 300, -300, 1e30, -1e30, nan, inf, -inf, math.Copysign(0, -1)})
	require.Equal(t, []int8{0, 1, -1, 127, -128, 127, -128, 0, 127, -128, 0}, Data[int8](Cast(f, I8)))
	require.Equal(t, []uint8{0, 1, 0, 255, 0, 255, 0, 0, 255, 0, 0}, Data[uint8](Cast(f, U8)))
	require.Equal(t, []int16{0, 1, -1, 300, -300, math.MaxInt16, math.MinInt16, 0, math.MaxInt16, math.MinInt16, 0}, Data[int16](Cast(f, I16)))
	require.Equal(t, []uint16{0, 1, 0, 300, 0, math.MaxUint16, 0, 0, math.MaxUint16, 0, 0}, Data[uint16](Cast(f, U16)))
	require.Equal(t, []int32{0, 1, -1, 300, -300, math.MaxInt32, math.MinInt32, 0, math.MaxInt32, math.MinInt32, 0}, Data[int32](Cast(f, I32)))
	require.Equal(t, []uint32{0, 1, 0, 300, 0, math.MaxUint32, 0, 0, math.MaxUint32, 0, 0}, Data[uint32](Cast(f, U32)))
	require.Equal(t, []int64{0, 1, -1, 300, -300, math.MaxInt64, math.MinInt64, 0, math.MaxInt64, math.MinInt64, 0}, Data[int64](Cast(f, I64)))
	require.Equal(t, []uint64{0, 1, 0, 300, 0, math.MaxUint64, 0, 0, math.MaxUint64, 0, 0}, Data[uint64](Cast(f, U64)))
	require.Equal(t, []bool{false, true, true, true, true, true, true, true, true, true, false}, Data[bool](Cast(f, Bool)))
	near := FromSlice([]float64{9223372036854774784, 9223372036854775808, 18446744073709549568, -9223372036854775808})
	require.Equal(t, []int64{9223372036854774784, math.MaxInt64, math.MaxInt64, math.MinInt64}, Data[int64](Cast(near, I64)))
	require.Equal(t, []uint64{9223372036854774784, 1 << 63, 18446744073709549568, 0}, Data[uint64](Cast(near, U64)))
	i := FromSlice([]int32{-1, 256, 65537, math.MinInt32})
	require.Equal(t, []uint8{255, 0, 1, 0}, Data[uint8](Cast(i, U8)))
	require.Equal(t, []uint64{math.MaxUint64, 256, 65537, 0xffffffff80000000}, Data[uint64](Cast(i, U64)))
	require.Equal(t, []bool{true, true, true, true}, Data[bool](Cast(i, Bool)))
	b := Make(Bool, []int{3}, []int{1}, 0, WrapBytes([]byte{0, 1, 7}))
	require.Equal(t, []float32{0, 1, 1}, Data[float32](Cast(b, F32)))
	require.Equal(t, []int64{0, 1, 1}, Data[int64](Cast(b, I64)))
	h := FromSlice([]Half{0x3c00, 0x7c00, 0x7e00, 0xfbff})
	require.Equal(t, []int32{1, math.MaxInt32, 0, -65504}, Data[int32](Cast(h, I32)))
	require.Equal(t, []BFloat{0x3f80, 0x7f80, 0x7fc0, 0xc780}, Data[BFloat](Cast(h, BF16)))
	require.Panics(t, func() { Cast(f, Invalid) })
}

// A value that every element type can hold survives every conversion, in chunks
// and through strides.
func TestCastAllPairs(t *testing.T) {
	for _, from := range DTypes() {
		a := New(from, 3, 2*chunk+5)
		for i := range a.Len() {
			SetInt64At(a, i, int64(i%2))
		}
		v := Permute(a, 1, 0)
		for _, to := range DTypes() {
			c := Cast(v, to)
			require.Equal(t, to, c.DType())
			require.NotSame(t, a.Storage(), c.Storage())
			for i := range c.Len() {
				if Int64At(c, i) != Int64At(v, i) || Float64At(c, i) != Float64At(v, i) {
					t.Fatalf("%s to %s, element %d: %d", from, to, i, Int64At(c, i))
				}
			}
		}
		require.Zero(t, Cast(New(from, 0, 3), F32).Len())
	}
}

// Integers become 16-bit floats with one rounding: checked against exact arithmetic.
func TestIntegersRoundOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		got := Data[BFloat](Cast(Scalar(v), BF16))[0]
		exact := new(big.Float).SetPrec(8).SetMode(big.ToNearestEven).SetInt64(v)
		want, _ := exact.Float64()
		require.Equal(t, want, float64(got.Float32()), v)
		u := uint64(v)
		exact = new(big.Float).SetPrec(8).SetMode(big.ToNearestEven).SetUint64(u)
		want, _ = exact.Float64()
		require.Equal(t, want, Float64At(Cast(Scalar(u), BF16), 0), u)
	})
	// One above half way between neighbours: rounding to float64 first would lose it.
	require.Equal(t, 0x1p63+0x1p56, Float64At(Cast(Scalar(uint64(1)<<63+1<<55+1), BF16), 0))
}

// TestOddRounding: rounding to odd first makes the second rounding the only one
// that counts; the references round the integer directly.
func TestOddRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := r.Uint64() >> r.IntN(64)
		if r.IntN(2) == 0 {
			// Just next to a tie of f32.
			v = v&^(1<<39-1) | 1<<39 + uint64(r.IntN(3)) - 1
		}
		require.Equal(t, float32(v), float32(OddFloat64(v)), "%d", v)
		require.Equal(t, float32(int64(v)), float32(OddFloat64(int64(v))), "%d", int64(v))
	}
	require.Equal(t, -0x1p63, OddFloat64(int64(math.MinInt64)))
}

func TestScalarAccess(t *testing.T) {
	for _, d := range DTypes() {
		a := Permute(New(d, 2, 3), 1, 0)
		SetFloat64At(a, 1, 1)
		require.Equal(t, 1.0, Float64At(a, 1), d)
		require.Equal(t, int64(1), Int64At(a, 1), d)
		require.Equal(t, 0.0, Float64At(a, 0), d)
		require.Panics(t, func() { Float64At(a, 6) })
		require.Panics(t, func() { Int64At(a, -1) })
	}
	a := FromSlice([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	require.Equal(t, int32(6), At[int32](a, 1, 2))
	require.Equal(t, int32(6), At[int32](a, -1, -1))
	require.Equal(t, int32(2), At[int32](Permute(a, 1, 0), 1, 0))
	require.PanicsWithValue(t, "array: At: index 3 of a dimension of size 3", func() { At[int32](a, 0, 3) })
	require.Panics(t, func() { At[int32](a, 0) })
	require.Panics(t, func() { At[float32](a, 0, 0) })
	require.Equal(t, 18446744073709551615.0, Float64At(Scalar(uint64(math.MaxUint64)), 0))
}
