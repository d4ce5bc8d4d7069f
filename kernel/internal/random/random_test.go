package random

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The known answers published with Random123 (kat_vectors).
var philoxAnswers = []struct {
	ctr  [4]uint32
	key  [2]uint32
	want [4]uint32
}{
	{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
	{
		[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
		[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
	},
	{
		[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
		[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
	},
}

func TestPhiloxKnownAnswers(t *testing.T) {
	for _, k := range philoxAnswers {
		require.Equal(t, k.want, Philox4x32(k.ctr, k.key))
	}
}

func TestUniformRange(t *testing.T) {
	require.Equal(t, float32(0), UniformF32(0))
	require.Equal(t, float32(0), UniformF32(255))
	require.Equal(t, float32(0x1p-24), UniformF32(256))
	require.Equal(t, float32(1-0x1p-24), UniformF32(math.MaxUint32))
}

func TestNormalMomentsAndLimits(t *testing.T) {
	for _, a := range []uint32{0, 1, 1 << 31, math.MaxUint32} {
		x, y := NormalF32(a, 0)
		require.False(t, math.IsInf(float64(x), 0) || math.IsNaN(float64(x)))
		require.Zero(t, y)
		require.LessOrEqual(t, x, float32(6.77))
	}
	const n = 1 << 16
	var sum, sq, quart float64
	for i := range uint32(n / 4) {
		w := Philox4x32([4]uint32{i}, [2]uint32{7, 9})
		var z [4]float32
		z[0], z[1] = NormalF32(w[0], w[1])
		z[2], z[3] = NormalF32(w[2], w[3])
		for _, v := range z {
			x := float64(v)
			sum += x
			sq += x * x
			quart += x * x * x * x
		}
	}
	// Five standard errors of each moment's estimate.
	se := 5 / math.Sqrt(n)
	require.InDelta(t, 0, sum/n, se)
	require.InDelta(t, 1, sq/n, se*math.Sqrt(2))
	require.InDelta(t, 3, quart/n, se*math.Sqrt(96))
}
