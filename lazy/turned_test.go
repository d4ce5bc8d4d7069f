package lazy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// Products of few rows are added up in another order where an operand lies turned in memory. Sessions, and captures of
// code, have the bits of eager code all the same.
func TestTurned_bitsAreThoseOfEagerCode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(shape ...int) *tensor.Tensor {
		x := ramp(shape...)
		for i, d := 0, tensor.Data[float32](x); i < len(d); i++ {
			d[i] = float32(r.NormFloat64())
		}
		return x
	}
	differ := 0
	for range 60 {
		m, k, n := 1+r.IntN(20), 1+r.IntN(300), 1+r.IntN(40)
		for name, in := range map[string][2]*tensor.Tensor{
			"left":  {normal(k, m).T(), normal(k, n)},
			"right": {normal(m, k), normal(n, k).T()},
			"both":  {normal(k, m).T(), normal(n, k).T()},
			"batch": {normal(2, k, m).Transpose(1, 2), normal(n, k).T()},
		} {
			x, y := in[0], in[1]
			want := x.Matmul(y).Array()
			if !array.Equal(want, x.Clone().Matmul(y.Clone()).Array()) {
				differ++
			}
			s := open(t, lazy.Options{Synchronous: true})
			for i := range 5 {
				require.True(t, array.Equal(x.Matmul(y.Clone()).Array(), x.Matmul(s.In(y)).Array()), "%s, run %d", name, i)
				require.True(t, array.Equal(x.Clone().Matmul(y).Array(), s.In(x).Matmul(y).Array()), "%s, run %d", name, i)
				require.NoError(t, s.Barrier())
			}
			var out *tensor.Tensor
			c, err := s.Capture(lazy.Code{Data: []*tensor.Tensor{x, y}, Run: func() { out = x.Matmul(y) }, Found: func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{out}, true }})
			require.NoError(t, err)
			require.NotNil(t, c.Module)
			require.True(t, array.Equal(want, out.Array()), "%s: a capture", name)
			run, err := cpu.Target{}.Compile(c.Module, lowering.Options{Exact: true})
			require.NoError(t, err)
			var read []*array.Array
			for _, k := range c.Reads {
				read = append(read, lazy.Laid(in[k].Array()))
			}
			again, err := run.Run(t.Context(), read)
			require.NoError(t, err)
			require.True(t, array.Equal(want, again[0]), "%s: the graph of a capture", name)
			run.Close()
		}
	}
	require.Positive(t, differ)
}
