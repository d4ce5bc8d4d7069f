package conv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

func TestConvPackedDoesNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, groups := range []int{1, 2, 8} {
			s := ConvPacked{Conv: Conv{Groups: groups, PadLo: []int{1, 1}}, Channels: 8, Kernel: []int{3, 3}, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
			kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 2, 8, 9, 9)}, []*array.Array{array.New(array.F32, 2, 8, 9, 9),
				array.New(array.F32, PackedConvLen(s.Conv, nil, []int{8, 8 / groups, 3, 3})), array.New(array.F32, 8)})
		}
	})
}

func TestConvPacked(t *testing.T) {
	cases := []struct {
		s       Conv
		x, w, y []int
	}{
		{Conv{PadLo: []int{1, 1}}, []int{2, 3, 9, 8}, []int{17, 3, 3, 3}, []int{2, 17, 9, 8}},
		{Conv{}, []int{1, 5, 6, 7}, []int{30, 5, 1, 1}, []int{1, 30, 6, 7}},
		{Conv{Stride: []int{2, 2}}, []int{2, 5, 6, 7}, []int{4, 5, 1, 1}, []int{2, 4, 3, 4}},
		{Conv{Groups: 2, Stride: []int{2, 3}, PadLo: []int{1, 0}}, []int{2, 4, 9, 9}, []int{6, 2, 3, 2}, []int{2, 6, 5, 3}},
		{Conv{Groups: 3, PadLo: []int{2, 2}}, []int{2, 3, 8, 20}, []int{3, 1, 5, 5}, []int{2, 3, 8, 20}},
		{Conv{Groups: 2, Stride: []int{2, 2}}, []int{1, 2, 9, 9}, []int{6, 1, 3, 3}, []int{1, 6, 4, 4}},
		{Conv{PadLo: []int{200, 0}}, []int{1, 2, 3, 3}, []int{3, 2, 2, 2}, []int{1, 3, 402, 2}},
		{Conv{PadLo: []int{1}}, []int{3, 6}, []int{4, 3, 3}, []int{4, 6}},
		{Conv{}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 3, 3}},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 9))
		for i, c := range cases {
			for subset := range 8 {
				t.Run(fmt.Sprint(c.x, c.w, subset), func(t *testing.T) {
					dt := []array.DType{array.F32, array.F16, array.BF16}[(i+subset)%3]
					step := ConvPacked{Conv: c.s, Channels: c.w[0], Kernel: c.w[2:], Epilogue: kerneltest.EpilogueAt(i + subset/2)}
					x, wt := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), dt, subset&2 != 0), kerneltest.ToArray(kerneltest.RandomRef(r, c.w), dt, subset&4 != 0)
					packed := array.New(array.F32, PackedConvLen(c.s, nil, c.w))
					kerneltest.RunStep(t, PackConv{Conv: c.s}, []*array.Array{packed}, []*array.Array{wt})
					more, ref := kerneltest.Extra(r, dt, subset, c.w[0], c.y)
					out, want := array.New(dt, c.y...), kerneltest.NewRef(c.y...)
					kerneltest.RunStep(t, step, []*array.Array{out}, append([]*array.Array{x, packed}, more...))
					a, b, y := kerneltest.ToRef(x), kerneltest.ToRef(wt), want
					if len(c.y) < len(c.w) {
						a.Shape, y.Shape = append([]int{1}, a.Shape...), append([]int{1}, y.Shape...)
					}
					kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))([]kerneltest.RefArray{a, b, {}}, []kerneltest.RefArray{y})
					plane := len(want.V) / (c.w[0] * y.Shape[0])
					for j := range want.V {
						m := j / plane % c.w[0]
						want.V[j] = kerneltest.Finish(want.V[j], step.Epilogue, ref[1].Or(m, 1), ref[0].Or(m, 0), ref[2].Or(j, 0))
					}
					kerneltest.RequireClose(t, want, out)
				})
			}
		}
	})
}
