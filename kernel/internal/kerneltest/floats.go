package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/stretchr/testify/require"
)

// RequireSums compares float32 sums with exact ones, whose terms have the sums
// of magnitudes `size`, each multiplied by the largest scale at most.
func RequireSums(t require.TestingT, want, size RefArray, scale float64, got []float32) {
	require.Len(t, got, len(want.V))
	for i, v := range want.V {
		if d := math.Abs(v - float64(got[i])); !(d <= 1e-6*(1+math.Abs(v))+4e-7*scale*size.V[i]) {
			require.Failf(t, "sums differ", "element %d: got %v, want %v, terms of %v", i, got[i], v, size.V[i])
		}
	}
}

// RandomFloats draws n normal values.
func RandomFloats(r *rand.Rand, n int) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(r.NormFloat64())
	}
	return f
}

// QBytes returns n random bytes, a third of them extremes.
func QBytes(r *rand.Rand, n int) []uint8 {
	b := make([]uint8, n)
	for i := range b {
		b[i] = uint8(r.Uint32())
		if r.IntN(3) == 0 {
			b[i] = [...]uint8{0, 255, 127, 128}[r.IntN(4)]
		}
	}
	return b
}

// Ones returns an array of ones.
func Ones(shape ...int) *array.Array {
	a := array.New(array.F32, shape...)
	operand.FillBlock(array.Raw[float32](a), 1)
	return a
}

// Edges are values at which functions change their ways.
var Edges = func() []float32 {
	s := []float32{
		0, 1, -1, 0.5, 2, 3, 1.5, 10, 18, 88.7, 88.8, 89, 103.9, 104, 1.0 / 64, 1.0 / 256, 1 << 20, 1 << 23, 1 << 24, 1 << 31,
		math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, 65504, 65520, 0x1p-24, 0x1p-25, 128, 255, 256, 32768,
		math.Pi / 2, math.Pi, math.Sqrt2, math.Sqrt2 / 2, 2.5, 3.5, float32(math.Inf(1)), float32(math.NaN()),
	}
	for _, v := range s {
		b := math.Float32bits(v)
		s = append(s, -v, math.Float32frombits(b+1), math.Float32frombits(b-1))
	}
	return s
}()

func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// RequireSame compares bits; all NaN are equal.
func RequireSame(t *testing.T, want, got []float32, what ...any) {
	t.Helper()
	for i := range want {
		if !sameFloat(want[i], got[i]) {
			require.Failf(t, "differs", "%v: element %d is %v (%#x), the twin gives %v (%#x)", what, i, got[i],
				math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// RandomArray fills an array of shape with values of all sizes and special ones.
func RandomArray(r *rand.Rand, d array.DType, shape []int) *array.Array {
	a := array.New(d, shape...)
	switch d {
	case array.F32:
		for i, s := 0, array.Raw[float32](a); i < len(s); i++ {
			switch r.IntN(4) {
			case 0:
				s[i] = Edges[r.IntN(len(Edges))]
			case 1:
				s[i] = math.Float32frombits(r.Uint32())
			default:
				s[i] = float32(r.NormFloat64() * 3)
			}
		}
	case array.Bool:
		for i, s := 0, array.Raw[uint8](a); i < len(s); i++ {
			s[i] = uint8(r.IntN(2))
		}
	case array.I32:
		for i, s := 0, array.Raw[uint32](a); i < len(s); i++ {
			s[i] = r.Uint32() >> r.IntN(32)
		}
	default:
		if d.Size() == 2 {
			for i, s := 0, array.Raw[uint16](a); i < len(s); i++ {
				s[i] = uint16(r.Uint32())
			}
		} else {
			for i, s := 0, array.Raw[uint8](a); i < len(s); i++ {
				s[i] = uint8(r.Uint32())
			}
		}
	}
	return a
}

// StridedArray is RandomArray, now and then with gaps between the elements.
func StridedArray(r *rand.Rand, d array.DType, shape []int) *array.Array {
	if r.IntN(4) != 0 {
		return RandomArray(r, d, shape)
	}
	wide := append(append([]int(nil), shape...), 2)
	a := RandomArray(r, d, wide)
	v := &array.Array{}
	v.SetLayout(a, shape, a.Strides()[:len(shape)], 1)
	return v
}

// RequireEqualArrays compares bits; all NaN are equal.
func RequireEqualArrays(t *testing.T, want, got *array.Array, what ...any) {
	t.Helper()
	floats := func(a *array.Array) []float32 {
		f := make([]float32, a.Len())
		switch a.DType() {
		case array.F32:
			copy(f, array.Raw[float32](a))
		case array.F16, array.BF16:
			half.WidenGo(f, array.Raw[uint16](a)[:len(f)], a.DType() == array.BF16)
		}
		return f
	}
	if want.DType().IsFloat() {
		RequireSame(t, floats(want), floats(got), what...)
		return
	}
	n := want.Len() * want.DType().Size()
	require.Equal(t, want.Storage().Bytes()[:n], got.Storage().Bytes()[:n], fmt.Sprint(what...))
}

// Floats returns n values of f.
func Floats(r *rand.Rand, n int, f func() float64) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(f())
	}
	return s
}
