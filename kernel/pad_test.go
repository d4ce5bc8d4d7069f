package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
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
		want := tensor64{[]int{len(c.want)}, c.want}
		same(t, want, run1(t, Pad{Lo: []int{c.lo}, Hi: []int{c.hi}, Mode: c.mode, Value: 9}, array.F32, want.shape, row), c.mode, c.lo, c.hi)
	}
	code(t, operandCode, "unknown mode", func() {
		run1(t, Pad{Lo: []int{1}, Hi: []int{0}, Mode: "mirror"}, array.F32, []int{5}, row)
	})
	code(t, operandCode, "no elements", func() {
		run1(t, Pad{Lo: []int{1}, Hi: []int{0}, Mode: "replicate"}, array.F32, []int{1}, array.New(array.F32, 0))
	})
}

func TestPadLayouts(t *testing.T) {
	x := iota64(2, 3, 4)
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
		want := fill64(shape, func(ix []int) float64 { return x.at(ix[0], f(ix[1]-1, 3), f(ix[2]-2, 4)) })
		for _, d := range []array.DType{array.F32, array.U8, array.I64, array.F16} {
			for _, in := range layouts(d, x) {
				same(t, want, run1(t, Pad{Lo: lo, Hi: hi, Mode: mode}, d, shape, in), mode, d)
			}
		}
	}
	want := fill64(shape, func(ix []int) float64 {
		if i, j := ix[1]-1, ix[2]-2; i >= 0 && i < 3 && j >= 0 && j < 4 {
			return x.at(ix[0], i, j)
		}
		return 5
	})
	for _, d := range array.DTypes() {
		if d == array.Bool {
			continue
		}
		for _, in := range layouts(d, x) {
			same(t, want, run1(t, Pad{Lo: lo, Hi: hi, Mode: "constant", Value: 5}, d, shape, in), d)
		}
	}
	in := layouts(array.F32, x)[1]
	out := []*array.Array{array.New(array.F32, shape...)}
	noAllocs(t, Pad{Lo: lo, Hi: hi, Mode: "constant"}, out, in)
	noAllocs(t, Pad{Lo: lo, Hi: hi, Mode: "reflect"}, out, in)
}

func TestFill(t *testing.T) {
	for _, d := range array.DTypes() {
		v := 3.0
		if d == array.Bool {
			v = 1
		}
		same(t, tensor64{[]int{2, 1}, []float64{v, v}}, run1(t, Full{Value: 3, IntValue: 3}, d, []int{2, 1}))
		same(t, tensor64{[]int{2, 3}, []float64{1, 0, 0, 0, 1, 0}}, run1(t, Eye{}, d, []int{2, 3}))
		same(t, tensor64{[]int{0, 3}, nil}, run1(t, Eye{}, d, []int{0, 3}))
		if d == array.Bool {
			continue
		}
		same(t, tensor64{[]int{4}, []float64{7, 5, 3, 1}}, run1(t, Arange{Start: 7, Step: -2, IntStart: 7, IntStep: -2}, d, []int{4}))
		same(t, tensor64{[]int{5}, []float64{2, 4, 6, 8, 10}}, run1(t, Linspace{Start: 2, End: 10}, d, []int{5}))
	}
	same(t, tensor64{[]int{1}, []float64{-3}}, run1(t, Full{IntValue: -3}, array.I8, []int{1}))
	same(t, tensor64{[]int{1}, []float64{math.Inf(1)}}, run1(t, Full{Value: math.Inf(1)}, array.F16, []int{1}))
	same(t, tensor64{[]int{1}, []float64{2}}, run1(t, Linspace{Start: 2, End: 10}, array.F32, []int{1}))
	same(t, tensor64{[]int{0}, nil}, run1(t, Linspace{Start: 2, End: 10}, array.F32, []int{0}))
	same(t, tensor64{[]int{4}, []float64{0, float64(float32(0.1)), float64(float32(0.2)), float64(float32(0.1 * 3))}},
		run1(t, Arange{Step: 0.1}, array.F32, []int{4}))
	// Integers are exact beyond 2^53.
	big := run1(t, Arange{IntStart: 1<<60 + 1, IntStep: 1}, array.I64, []int{2})
	require.Equal(t, []int64{1<<60 + 1, 1<<60 + 2}, array.Data[int64](big))
	lin := array.Data[float64](run1(t, Linspace{Start: -0.3, End: 0.7}, array.F64, []int{7}))
	require.Equal(t, -0.3, lin[0])
	require.Equal(t, 0.7, lin[6])
	noAllocs(t, Arange{Step: 1}, []*array.Array{array.New(array.F32, 9)})
}
