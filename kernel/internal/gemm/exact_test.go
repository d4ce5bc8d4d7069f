package gemm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Where sums are in blocks, a product has the same bits however its operands lie, packed or not.
func TestSumsInBlocks(t *testing.T) {
	require.False(t, SumsInBlocks(mostThin, 100))
	require.False(t, SumsInBlocks(100, mostThin))
	for _, least := range []int{DotRows, dotCols, streamRows, ThinRows - 1, GemvCols} {
		require.LessOrEqual(t, least, mostThin)
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			size := func(name string, more ...int) int {
				return rapid.SampledFrom(append([]int{mostThin + 1, 14, 16, 17, 33, 65}, more...)).Draw(r, name)
			}
			m, n := size("rows", 130), size("columns")
			require.True(r, SumsInBlocks(m, n))
			k := rapid.SampledFrom([]int{1, 2, 63, 64, 257, 385, 769}).Draw(r, "depth")
			dt := rapid.SampledFrom([]array.DType{array.F32, array.F32, array.F16, array.BF16}).Draw(r, "type")
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			turn := func(name string, a *array.Array) *array.Array {
				if rapid.Bool().Draw(r, name) {
					return array.Permute(array.Contiguous(array.Permute(a, 1, 0)), 1, 0)
				}
				return a
			}
			x := turn("x lies turned", numbers(rnd, dt, []int{m, k}))
			wt := turn("the weight lies turned", numbers(rnd, dt, []int{n, k}))
			turned := array.Permute(wt, 1, 0)
			threads := rapid.IntRange(1, 3).Draw(r, "threads")
			run := func(s par.Step, in ...*array.Array) *array.Array {
				out := array.New(dt, m, n)
				s.Run(&par.Workspace{Threads: threads}, []*array.Array{out}, in)
				return out
			}
			var bias *array.Array
			if rapid.Bool().Draw(r, "bias") {
				bias = numbers(rnd, dt, []int{n})
			}
			want := run(Linear{}, x, wt, bias)
			for _, pack := range []PackLinear{{}, {Transposed: true}} {
				of := wt
				if pack.Transposed {
					of = turned
				}
				_, dims := pack.Packed(of)
				packed := array.New(array.F32, dims...)
				pack.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{of})
				same(r, want, run(LinearPacked{Features: n}, x, packed, bias), "packed")
			}
			if bias == nil {
				same(r, want, run(MatMul{}, x, turned), "product")
			}
		})
	})
}

// numbers returns finite ones: NaN would hide how a sum is rounded.
func numbers(r *rand.Rand, dt array.DType, shape []int) *array.Array {
	return kerneltest.ToArray(kerneltest.RandomRef(r, shape), dt, false)
}

// same requires equal bits.
func same(t require.TestingT, want, got *array.Array, what string) {
	size := want.DType().Size() * want.Len()
	require.True(t, bytes.Equal(want.Storage().Bytes()[:size], got.Storage().Bytes()[:size]), what)
}
