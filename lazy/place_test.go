package lazy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// One line makes calls of all kinds, in any order: what a session remembers of the line's calls is
// never taken for another one, such as that with -0 for that with 0.
func TestForms_ofOneLine(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true, MaxPrograms: 8})
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{0, math.Copysign(0, -1), 1, 2.5, math.NaN(), math.Inf(1)}
	sizes := [][]int{{2, 3}, {3, 2}, {6}, {1, 6}}
	call := func(kind, i int, x *tensor.Tensor) *tensor.Tensor {
		var o *op.Op
		var attrs any
		args := []*tensor.Tensor{x}
		switch kind {
		case 0:
			o, args = std.Add, append(args, tensor.Scalar(float32(numbers[i])))
		case 1:
			o, attrs = std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(sizes[i%len(sizes)]...)}
		case 2:
			o, args = std.Cat, append(args, x, x)
		case 3:
			o, attrs = std.Mul, std.BinaryAttrs{Other: op.Float(numbers[i])}
		default:
			o, attrs = std.LeakyRelu, std.LeakyReluAttrs{NegativeSlope: numbers[i]}
		}
		return tensor.Apply(o, attrs, args...)[0]
	}
	for range 400 {
		eager := ramp(sizes[r.IntN(len(sizes))]...).AddScalar(float64(-r.IntN(3)))
		if r.IntN(2) == 0 {
			eager = eager.Cast(array.F64)
		}
		lazily := s.In(eager)
		for range 4 {
			kind, i := r.IntN(5), r.IntN(len(numbers))
			if eager.Type().Dims().Prod().Is(6) || kind != 1 {
				eager, lazily = call(kind, i, eager), call(kind, i, lazily)
			}
		}
		require.Equal(t, eager.Type().String(), lazily.Type().String())
		require.True(t, array.Equal(eager.Array(), lazily.Array()))
	}
}

// What a session remembers of a line ends where the line never makes the same call twice.
func TestForms_areBounded(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1))
	for i := range 1000 {
		x = x.MulScalar(3 + float64(i)).AddScalar(1)
	}
	require.Equal(t, 256+1, lazy.Forms(s))
	for i := range 1000 {
		x = x.MulScalar(3 + float64(i)).AddScalar(1)
	}
	require.Equal(t, 2*(256+1), lazy.Forms(s))
}
