package move

import (
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

func TestUnfoldAndFold(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		h, w                              int
		kernel, dilation, padding, stride []int
	}{
		{5, 6, []int{3, 2}, []int{1, 1}, []int{0, 0}, []int{1, 1}},
		{7, 6, []int{2, 3}, []int{2, 1}, []int{1, 2}, []int{2, 3}},
		{1, 1, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}},
		{2, 2, []int{3, 3}, []int{1, 1}, []int{0, 0}, []int{1, 1}},
	} {
		oh := max((c.h+2*c.padding[0]-c.dilation[0]*(c.kernel[0]-1)-1+c.stride[0])/c.stride[0], 0)
		ow := max((c.w+2*c.padding[1]-c.dilation[1]*(c.kernel[1]-1)-1+c.stride[1])/c.stride[1], 0)
		k := c.kernel[0] * c.kernel[1]
		// source returns the image position that a column element reads.
		source := func(row, l int) (y, x int, ok bool) {
			ky, kx := row%k/c.kernel[1], row%k%c.kernel[1]
			y = l/ow*c.stride[0] - c.padding[0] + ky*c.dilation[0]
			x = l%ow*c.stride[1] - c.padding[1] + kx*c.dilation[1]
			return y, x, y >= 0 && y < c.h && x >= 0 && x < c.w
		}
		img := kerneltest.Rand64(r, 2, 3, c.h, c.w)
		cols := kerneltest.Fill64([]int{2, 3 * k, oh * ow}, func(i []int) float64 {
			if y, x, ok := source(i[1], i[2]); ok {
				return img.At(i[0], i[1]/k, y, x)
			}
			return 0
		})
		back := kerneltest.Fill64(img.Shape, func([]int) float64 { return 0 })
		kerneltest.Each(cols.Shape, func(i []int) {
			if y, x, ok := source(i[1], i[2]); ok {
				back.Data[((i[0]*3+i[1]/k)*c.h+y)*c.w+x] += cols.At(i...)
			}
		})
		u := Unfold{c.kernel, c.dilation, c.padding, c.stride}
		f := Fold{[]int{c.h, c.w}, c.kernel, c.dilation, c.padding, c.stride}
		for _, d := range []array.DType{array.F32, array.F64, array.BF16} {
			tol := map[array.DType]float64{array.BF16: 2e-2}[d]
			for _, in := range kerneltest.Layouts(d, img) {
				kerneltest.Near(t, cols, kerneltest.Run1(t, u, d, cols.Shape, in), tol)
			}
			for _, in := range kerneltest.Layouts(d, cols) {
				kerneltest.Near(t, back, kerneltest.Run1(t, f, d, img.Shape, in), tol)
			}
		}
	}
	// Without a batch dimension, integers.
	img := kerneltest.Iota64(1, 2, 2)
	u := Unfold{[]int{1, 2}, []int{1, 1}, []int{0, 1}, []int{1, 1}}
	cols := kerneltest.Tensor64{Shape: []int{2, 6}, Data: []float64{0, 1, 2, 0, 3, 4, 1, 2, 0, 3, 4, 0}}
	kerneltest.Same(t, cols, kerneltest.Run1(t, u, array.I32, cols.Shape, kerneltest.Pack64(array.I32, img)))
	f := Fold{[]int{2, 2}, u.Kernel, u.Dilation, u.Padding, u.Stride}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{1, 2, 2}, Data: []float64{2, 4, 6, 8}}, kerneltest.Run1(t, f, array.I32, img.Shape, kerneltest.Pack64(array.I32, cols)))
	kerneltest.NoAllocs(t, f, []*array.Array{array.New(array.F32, 1, 2, 2)}, array.New(array.F32, 2, 6))
	kerneltest.Code(t, operand.OperandCode, "not positive", func() {
		u.Stride = []int{0, 1}
		kerneltest.Run1(t, u, array.I32, cols.Shape, kerneltest.Pack64(array.I32, img))
	})
}
