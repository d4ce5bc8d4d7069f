package compile_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type bothIn struct{ X, Y *tensor.Tensor }

func normal(r *rand.Rand, sizes ...int) *tensor.Tensor {
	x := tensor.New(array.New(array.F32, sizes...))
	for i, v := 0, tensor.Data[float32](x); i < len(v); i++ {
		v[i] = float32(r.NormFloat64())
	}
	return x
}

// An argument that lies turned in memory gives the bits of eager code, which adds few rows up in another order then.
func TestTurnedArguments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	turned, differ := 0, 0
	for range 12 {
		k, n := 100+r.IntN(200), 2+r.IntN(6)
		product := func(x, y *tensor.Tensor) *tensor.Tensor { return x.Matmul(y).AddScalar(1) }
		f := compile.New(state.Table{Func: "f"}, func(in *bothIn, out *oneOut) { out.R = product(in.X, in.Y) })
		for i := range 6 {
			x, y := normal(r, k, n), normal(r, k, 7)
			if x = x.T(); i%3 == 2 {
				x = x.Clone()
			} else {
				turned++
				if !array.Equal(product(x, y).Array(), product(x.Clone(), y).Array()) {
					differ++
				}
			}
			require.True(t, array.Equal(product(x, y).Array(), f.Call(bothIn{x, y}).R.Array()), "call %d", i)
		}
		require.Positive(t, f.Stats().Hits)
		require.Zero(t, f.Stats().Failed)
		f.Close()
	}
	require.Greater(t, differ, turned/4)
}
