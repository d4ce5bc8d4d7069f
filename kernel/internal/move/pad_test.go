package move

import (
	"math"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

func TestPad(t *testing.T) {
	row := array.FromSlice([]float32{1, 2, 3, 4})
	for _, c := range []struct {
		mode   string
		lo, hi int
		want   []float64
	}{
		{"constant", 2, 1, []float64{9, 9, 1, 2, 3, 4, 9}},
		{"constant", -1, 2, []float64{2, 3, 4, 9, 9}},
		{"constant", -3, -1, []float64{}},
		{"constant", 1, -2, []float64{9, 1, 2}},
		{"constant", -6, 3, []float64{9}},
		{"reflect", 3, 2, []float64{4, 3, 2, 1, 2, 3, 4, 3, 2}},
		{"replicate", 2, 3, []float64{1, 1, 1, 2, 3, 4, 4, 4, 4}},
		{"circular", 2, 1, []float64{3, 4, 1, 2, 3, 4, 1}},
		{"replicate", -1, 1, []float64{2, 3, 4, 4}},
	} {
		want := kerneltest.Tensor64{Shape: []int{len(c.want)}, Data: c.want}
		kerneltest.Same(t, want, kerneltest.Run1(t, Pad{Lo: []int{c.lo}, Hi: []int{c.hi}, Mode: c.mode, Value: 9}, array.F32, want.Shape, row), c.mode, c.lo, c.hi)
	}
	kerneltest.Code(t, operand.OperandCode, "unknown mode", func() {
		kerneltest.Run1(t, Pad{Lo: []int{1}, Hi: []int{0}, Mode: "mirror"}, array.F32, []int{5}, row)
	})
	kerneltest.Code(t, operand.OperandCode, "no elements", func() {
		kerneltest.Run1(t, Pad{Lo: []int{1}, Hi: []int{0}, Mode: "replicate"}, array.F32, []int{1}, array.New(array.F32, 0))
	})
}

func TestPadLayouts(t *testing.T) {
	x := kerneltest.Iota64(2, 3, 4)
	lo, hi := []int{0, 1, 2}, []int{0, 2, 1}
	shape := []int{2, 6, 7}
	source := map[string]func(i, n int) int{
		"reflect": func(i, n int) int {
			if i < 0 {
				i = -i
			}
			if i >= n {
				i = 2*(n-1) - i
			}
			return i
		},
		"replicate": func(i, n int) int { return min(max(i, 0), n-1) },
		"circular":  func(i, n int) int { return (i + n) % n },
	}
	for mode, f := range source {
		want := kerneltest.Fill64(shape, func(ix []int) float64 { return x.At(ix[0], f(ix[1]-1, 3), f(ix[2]-2, 4)) })
		for _, d := range []array.DType{array.F32, array.U8, array.I64, array.F16} {
			for _, in := range kerneltest.Layouts(d, x) {
				kerneltest.Same(t, want, kerneltest.Run1(t, Pad{Lo: lo, Hi: hi, Mode: mode}, d, shape, in), mode, d)
			}
		}
	}
	want := kerneltest.Fill64(shape, func(ix []int) float64 {
		if i, j := ix[1]-1, ix[2]-2; i >= 0 && i < 3 && j >= 0 && j < 4 {
			return x.At(ix[0], i, j)
		}
		return 5
	})
	for _, d := range array.DTypes() {
		if d == array.Bool {
			continue
		}
		for _, in := range kerneltest.Layouts(d, x) {
			kerneltest.Same(t, want, kerneltest.Run1(t, Pad{Lo: lo, Hi: hi, Mode: "constant", Value: 5}, d, shape, in), d)
		}
	}
	in := kerneltest.Layouts(array.F32, x)[1]
	out := []*array.Array{array.New(array.F32, shape...)}
	kerneltest.NoAllocs(t, Pad{Lo: lo, Hi: hi, Mode: "constant"}, out, in)
	kerneltest.NoAllocs(t, Pad{Lo: lo, Hi: hi, Mode: "reflect"}, out, in)
}

func TestFill(t *testing.T) {
	for _, d := range array.DTypes() {
		v := 3.0
		if d == array.Bool {
			v = 1
		}
		kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{2, 1}, Data: []float64{v, v}}, kerneltest.Run1(t, Full{Value: 3, IntValue: 3}, d, []int{2, 1}))
	}
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{1}, Data: []float64{-3}}, kerneltest.Run1(t, Full{IntValue: -3}, array.I8, []int{1}))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{1}, Data: []float64{math.Inf(1)}}, kerneltest.Run1(t, Full{Value: math.Inf(1)}, array.F16, []int{1}))
}
