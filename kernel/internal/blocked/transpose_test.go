package blocked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/conv"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestConvTransposeBlocked(t *testing.T) {
	two := func(a int) []int { return []int{a, a} }
	r := rand.New(rand.NewPCG(8, 9))
	for _, c := range []struct {
		s       conv.ConvTranspose
		x, w, y []int
	}{
		{conv.ConvTranspose{Stride: two(2), Padding: two(1)}, []int{2, 20, 9, 7}, []int{20, 33, 4, 4}, []int{2, 33, 18, 14}},
		{conv.ConvTranspose{Stride: two(2), Padding: two(1), OutputPadding: two(1)}, []int{1, 16, 5, 6}, []int{16, 50, 3, 3}, []int{1, 50, 10, 12}},
		{conv.ConvTranspose{}, []int{1, 40, 5, 6}, []int{40, 30, 3, 2}, []int{1, 30, 7, 7}},
		{conv.ConvTranspose{Stride: two(3), Dilation: two(2)}, []int{1, 5, 4, 4}, []int{5, 17, 2, 3}, []int{1, 17, 12, 14}},
		{conv.ConvTranspose{Stride: two(3)}, []int{1, 5, 4, 4}, []int{5, 4, 2, 1}, []int{1, 4, 11, 10}}, // phases without taps
		{conv.ConvTranspose{Stride: []int{2, 1}, Groups: 2}, []int{1, 32, 4, 5}, []int{32, 16, 2, 2}, []int{1, 32, 8, 6}},
		{conv.ConvTranspose{Stride: two(2), Groups: 19, Padding: two(2)}, []int{2, 19, 6, 6}, []int{19, 1, 5, 5}, []int{2, 19, 11, 11}},
		{conv.ConvTranspose{Stride: []int{2}, Padding: []int{4}}, []int{2, 3, 9}, []int{3, 4, 3}, []int{2, 4, 11}},
		{conv.ConvTranspose{Stride: []int{1, 2, 2}, Padding: []int{1, 0, 1}}, []int{1, 18, 3, 3, 4}, []int{18, 17, 3, 2, 3}, []int{1, 17, 3, 6, 7}},
		{conv.ConvTranspose{}, []int{2, 0, 4, 4}, []int{0, 3, 2, 2}, []int{2, 3, 5, 5}},
		{conv.ConvTranspose{}, []int{0, 3, 4, 4}, []int{3, 3, 2, 2}, []int{0, 3, 5, 5}},
	} {
		groups := max(c.s.Groups, 1)
		image, weight, sums := kerneltest.Rounded(kerneltest.RandomRef(r, c.x)), kerneltest.Rounded(kerneltest.RandomRef(r, c.w)), kerneltest.NewRef(c.y...)
		kerneltest.ConvTransposeMeaning(kerneltest.TransposeForm(c.s))([]kerneltest.RefArray{image, weight, {}}, []kerneltest.RefArray{sums})
		kerneltest.EachLevel(t, func(t *testing.T) {
			for subset := range 8 {
				t.Run(fmt.Sprint(c.x, c.w, subset), func(t *testing.T) {
					s := ConvTransposeBlocked{ConvTranspose: c.s, In: c.x[1], Channels: c.y[1], Kernel: c.w[2:], Epilogue: kerneltest.EpilogueAt(subset)}
					packed := array.New(array.F32, BlockedConvLen(append([]int{c.y[1], c.x[1] / groups}, c.w[2:]...)))
					kerneltest.RunStep(t, PackConvTransposeBlocked{c.s}, []*array.Array{packed}, []*array.Array{kerneltest.ToArray(weight, array.F32, subset&2 != 0)})
					in := []*array.Array{kerneltest.ToArray(blockedOf(image), array.F32, false), packed, nil, nil, nil}
					var ref [3]kerneltest.RefArray
					for i, shape := range [][]int{{c.y[1]}, {c.y[1]}, c.y} {
						if subset>>i&1 != 0 {
							ref[i] = kerneltest.Rounded(kerneltest.RandomRef(r, shape))
							in[2+i] = kerneltest.ToArray(ref[i], array.F32, false)
						}
					}
					if in[4] != nil {
						in[4] = kerneltest.ToArray(blockedOf(ref[2]), array.F32, false)
					}
					out := []*array.Array{array.New(array.F32, blockedOf(sums).Shape...)}
					kerneltest.RunStep(t, s, out, in)
					got := array.New(array.F32, c.y...)
					FromBlocked{}.Run(&par.Workspace{}, []*array.Array{got}, out)
					plane := max(1, len(sums.V)/max(1, c.y[0]*c.y[1]))
					for i, v := range kerneltest.ToRef(got).V {
						m := i / plane % c.y[1]
						want := kerneltest.Finish(sums.V[i], s.Epilogue, ref[1].Or(m, 1), ref[0].Or(m, 0), ref[2].Or(i, 0))
						if !(math.Abs(v-want) <= 1e-4*max(1, math.Abs(want))) {
							require.Failf(t, "values differ", "element %d of %v: got %v, want %v", i, c.y, v, want)
						}
					}
				})
			}
		})
	}
}

func BenchmarkConvTranspose(b *testing.B) {
	two := []int{2, 2}
	s := conv.ConvTranspose{Stride: two, Padding: []int{1, 1}}
	w := &par.Workspace{Threads: 1}
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	work := 128 * 64 * 16 * 28 * 28
	b.Run("planar", func(b *testing.B) {
		in, out := []*array.Array{f(1, 128, 28, 28), f(128, 64, 4, 4), f(64)}, []*array.Array{f(1, 64, 56, 56)}
		kerneltest.BenchShare(b, gemm.PeakRun, 1, work, func() { s.Run(w, out, in) })
	})
	b.Run("blocked", func(b *testing.B) {
		step := ConvTransposeBlocked{ConvTranspose: s, In: 128, Channels: 64, Kernel: []int{4, 4}}
		in, out := []*array.Array{f(1, 8, 28, 28, 16), f(BlockedConvLen([]int{64, 128, 4, 4})), f(64)}, []*array.Array{f(1, 4, 56, 56, 16)}
		kerneltest.BenchShare(b, gemm.PeakRun, 1, work, func() { step.Run(w, out, in) })
	})
}
