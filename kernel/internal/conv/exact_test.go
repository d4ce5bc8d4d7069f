package conv

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// numbers returns finite ones: NaN would hide how a sum is rounded.
func numbers(r *rand.Rand, dt array.DType, shape []int) *array.Array {
	return kerneltest.ToArray(kerneltest.RandomRef(r, shape), dt, false)
}

// exactCase is a convolution whose sums are in blocks.
type exactCase struct {
	s       Conv
	x, w, y []int
}

func drawExactCase(r *rapid.T) exactCase {
	c := exactCase{s: Conv{Groups: rapid.SampledFrom([]int{1, 1, 2}).Draw(r, "groups")}}
	per := rapid.SampledFrom([]int{1, 3, 16, 48}).Draw(r, "per group")
	m := rapid.SampledFrom([]int{13, 16, 33}).Draw(r, "filters")
	c.x, c.w = []int{rapid.IntRange(1, 2).Draw(r, "batch"), per * c.s.Groups}, []int{m * c.s.Groups, per}
	c.y = []int{c.x[0], c.w[0]}
	for d := range rapid.IntRange(1, 3).Draw(r, "dimensions") {
		k := rapid.SampledFrom([]int{1, 3, 3}).Draw(r, "kernel")
		stride, pad := rapid.IntRange(1, 2).Draw(r, "stride"), rapid.IntRange(0, k/2).Draw(r, "padding")
		out := rapid.SampledFrom([]int{13, 14, 28, 49}).Draw(r, "out")
		if d > 0 {
			out = rapid.SampledFrom([]int{1, 2, 5}).Draw(r, "out")
		}
		c.x, c.w, c.y = append(c.x, max(1, (out-1)*stride+k-2*pad)), append(c.w, k), append(c.y, out)
		c.s.Stride, c.s.Dilation = append(c.s.Stride, stride), append(c.s.Dilation, 1)
		c.s.PadLo, c.s.PadHi = append(c.s.PadLo, pad), append(c.s.PadHi, pad)
	}
	for i, n := range c.x[2:] { // what an input of one element is convolved to
		c.y[2+i] = (n+2*c.s.PadLo[i]-c.w[2+i])/c.s.Stride[i] + 1
	}
	return c
}

// A packed weight with Exact gives the bits of Conv, whatever algorithm the sizes choose: those
// that were expected, and others.
func TestConvExact(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			c := drawExactCase(r)
			positions := 1
			for _, n := range c.y[2:] {
				positions *= n
			}
			require.True(r, gemm.SumsInBlocks(c.w[0]/c.s.Groups, positions))
			dt := rapid.SampledFrom([]array.DType{array.F32, array.F32, array.F16}).Draw(r, "type")
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			x, wt := numbers(rnd, dt, c.x), numbers(rnd, dt, c.w)
			var bias *array.Array
			if rapid.Bool().Draw(r, "bias") {
				bias = numbers(rnd, dt, c.w[:1])
			}
			want, got := array.New(dt, c.y...), array.New(dt, c.y...)
			c.s.Run(&par.Workspace{}, []*array.Array{want}, []*array.Array{x, wt, bias})
			for _, in := range [][]int{nil, c.x[2:], []int{56, 56, 56}[:len(c.x)-2]} {
				pack := PackConv{Conv: c.s, In: in, Exact: true}
				_, dims := pack.Packed(wt)
				packed := array.New(array.F32, dims...)
				pack.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{wt})
				step := ConvPacked{Conv: c.s, Channels: c.w[0], Kernel: c.w[2:], In: in, Exact: true}
				step.Run(&par.Workspace{Threads: rapid.IntRange(1, 3).Draw(r, "threads")}, []*array.Array{got}, []*array.Array{x, packed, bias})
				n := want.Len() * dt.Size()
				require.True(r, bytes.Equal(want.Storage().Bytes()[:n], got.Storage().Bytes()[:n]), "expected %v", in)
			}
		})
	})
}
