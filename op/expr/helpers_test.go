package expr_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// run executes the program of outs over inputs, for a given output shape.
func run(t testing.TB, b *expr.Builder, shape []int, in []*array.Array, outs ...expr.Value) []*array.Array {
	t.Helper()
	p := b.Compile(outs...)
	require.NoError(t, p.Check())
	res := make([]*array.Array, len(outs))
	for i, v := range outs {
		res[i] = array.New(v.DType(), shape...)
	}
	var w kernel.Workspace
	kernel.Elementwise{Program: p}.Run(&w, res, in)
	return res
}

// setBits stores an element by its bits; getBits reads it, signed types extended.
func setBits(a *array.Array, i int, bits uint64) {
	switch a.DType().Size() {
	case 1:
		array.Raw[uint8](a)[i] = uint8(bits)
	case 2:
		array.Raw[uint16](a)[i] = uint16(bits)
	case 4:
		array.Raw[uint32](a)[i] = uint32(bits)
	default:
		array.Raw[uint64](a)[i] = bits
	}
}

func getBits(a *array.Array, i int) uint64 {
	var v uint64
	switch a.DType().Size() {
	case 1:
		v = uint64(array.Raw[uint8](a)[i])
	case 2:
		v = uint64(array.Raw[uint16](a)[i])
	case 4:
		v = uint64(array.Raw[uint32](a)[i])
	default:
		v = array.Raw[uint64](a)[i]
	}
	if d := a.DType(); d.IsInt() && d.IsSigned() {
		s := 64 - 8*d.Size()
		v = uint64(int64(v<<s) >> s)
	}
	return v
}

// toFloat and fromFloat convert between the bits of a float type and float64,
// rounding once.
func toFloat(d array.DType, bits uint64) float64 {
	switch d {
	case array.F64:
		return math.Float64frombits(bits)
	case array.F32:
		return float64(math.Float32frombits(uint32(bits)))
	case array.F16:
		return float64(array.Half(bits).Float32())
	}
	return float64(array.BFloat(bits).Float32())
}

func fromFloat(d array.DType, x float64) uint64 {
	switch d {
	case array.F64:
		return math.Float64bits(x)
	case array.F32:
		return uint64(math.Float32bits(float32(x)))
	case array.F16:
		return uint64(array.HalfFromFloat64(x))
	}
	return uint64(array.BFloatFromFloat64(x))
}

// toBig returns the integer with these bits.
func toBig(d array.DType, bits uint64) *big.Int {
	if d == array.U64 {
		return new(big.Int).SetUint64(bits)
	}
	return big.NewInt(int64(bits))
}

// wrapBig reduces x to the range of d by its low bits and returns these.
func wrapBig(d array.DType, x *big.Int) uint64 {
	n := uint(8 * d.Size())
	mod := new(big.Int).Lsh(big.NewInt(1), n)
	r := new(big.Int).Mod(x, mod).Uint64()
	if d.IsSigned() {
		s := 64 - n
		return uint64(int64(r<<s) >> s)
	}
	return r
}

// floatGrid has the values at which float operations are tested, by their bits.
func floatGrid(d array.DType) []uint64 {
	var out []uint64
	for _, x := range []float64{0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.25, 7, 10, 100.5, 1e-3, 1e3, 6e4, math.Inf(1)} {
		out = append(out, fromFloat(d, x), fromFloat(d, -x))
	}
	limits := map[array.DType][]uint64{
		array.F64:  {1, 1 << 63 & math.MaxInt64, 0x7fefffffffffffff, 0x0010000000000000, 0x3ff0000000000001, 0xbfefffffffffffff},
		array.F32:  {1, 0x80000001, 0x7f7fffff, 0x00800000, 0x3f800001, 0xbf7fffff},
		array.F16:  {1, 0x8001, 0x7bff, 0x0400, 0x3c01, 0xbbff},
		array.BF16: {1, 0x8001, 0x7f7f, 0x0080, 0x3f81, 0xbf7f},
	}
	out = append(out, limits[d]...)
	return append(out, fromFloat(d, math.NaN()))
}

// intGrid is floatGrid for integers.
func intGrid(d array.DType) []uint64 {
	n := uint(8 * d.Size())
	var out []uint64
	for _, x := range []int64{0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 63, 64, 100} {
		out = append(out, wrapBig(d, big.NewInt(x)), wrapBig(d, big.NewInt(-x)))
	}
	for _, shift := range []uint{n - 1, n / 2, n - 2} {
		p := new(big.Int).Lsh(big.NewInt(1), shift)
		out = append(out, wrapBig(d, p), wrapBig(d, new(big.Int).Sub(p, big.NewInt(1))), wrapBig(d, new(big.Int).Add(p, big.NewInt(1))))
	}
	return out
}

func grid(d array.DType) []uint64 {
	switch {
	case d.IsFloat():
		return floatGrid(d)
	case d == array.Bool:
		return []uint64{0, 1}
	}
	return intGrid(d)
}

// pairs returns two arrays holding every pair of grid values.
func pairs(d array.DType) (x, y *array.Array) {
	g := grid(d)
	n := len(g) * len(g)
	x, y = array.New(d, n), array.New(d, n)
	for i, a := range g {
		for j, b := range g {
			setBits(x, i*len(g)+j, a)
			setBits(y, i*len(g)+j, b)
		}
	}
	return x, y
}

// sameBits compares values, taking all NaNs for equal.
func sameBits(d array.DType, a, b uint64) bool {
	if d.IsFloat() && math.IsNaN(toFloat(d, a)) && math.IsNaN(toFloat(d, b)) {
		return true
	}
	return a == b
}
