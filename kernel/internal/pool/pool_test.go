package pool

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// windowMeaning calls f for every output position with the input positions of
// its window that lie inside, and the window's size within the padded input.
func windowMeaning(x, y kerneltest.RefArray, kernel, stride, lo, hi, dilation []int, f func(pos []int, vals []float64, at []int, padded int)) {
	lead := len(x.Shape) - len(kernel)
	if stride == nil {
		stride = kernel
	}
	kerneltest.EachPos(y.Shape, func(pos []int) {
		var vals []float64
		var at []int
		kerneltest.EachPos(kernel, func(k []int) {
			p, flat := append([]int{}, pos...), 0
			for d := range kernel {
				p[lead+d] = pos[lead+d]*stride[d] - kerneltest.Pick(lo, d, 0) + k[d]*kerneltest.Pick(dilation, d, 1)
				flat = flat*x.Shape[lead+d] + p[lead+d]
			}
			if i, ok := x.Index(p...); ok {
				vals, at = append(vals, x.V[i]), append(at, flat)
			}
		})
		padded := 1
		for d := range kernel {
			start := pos[lead+d]*stride[d] - kerneltest.Pick(lo, d, 0)
			padded *= min(start+kernel[d], x.Shape[lead+d]+kerneltest.Pick(hi, d, 0)) - start
		}
		f(pos, vals, at, padded)
	})
}

func maxPoolMeaning(s MaxPool) func(in, out []kerneltest.RefArray) {
	return func(in, out []kerneltest.RefArray) {
		windowMeaning(in[0], out[0], s.Kernel, s.Stride, s.PadLo, s.PadHi, s.Dilation, func(pos []int, vals []float64, at []int, _ int) {
			best := 0
			for i, v := range vals {
				if v > vals[best] {
					best = i
				}
			}
			out[0].Set(vals[best], pos...)
			if len(out) > 1 {
				out[1].Set(float64(at[best]), pos...)
			}
		})
	}
}

func TestMaxPool(t *testing.T) {
	cases := []struct {
		name   string
		s      MaxPool
		x, out []int
	}{
		{"2x2", MaxPool{Kernel: []int{2, 2}}, []int{2, 3, 6, 8}, []int{2, 3, 3, 4}},
		{"3x3 stride 2 pad 1", MaxPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{2, 3, 9, 8}, []int{2, 3, 5, 4}},
		{"ceil mode", MaxPool{Kernel: []int{3, 2}, Stride: []int{2, 2}}, []int{1, 2, 6, 7}, []int{1, 2, 3, 4}},
		{"dilated and padded", MaxPool{Kernel: []int{3, 2}, Stride: []int{1, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, Dilation: []int{2, 3}}, []int{1, 2, 7, 8}, []int{1, 2, 5, 4}},
		{"without batch", MaxPool{Kernel: []int{2, 3}, Stride: []int{1, 1}}, []int{3, 4, 5}, []int{3, 3, 3}},
		{"1d", MaxPool{Kernel: []int{3}, Stride: []int{1}, PadLo: []int{1}, PadHi: []int{1}}, []int{2, 3, 7}, []int{2, 3, 7}},
		{"3d", MaxPool{Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 2}}, []int{1, 2, 3, 5, 6}, []int{1, 2, 2, 2, 3}},
		{"no batch", MaxPool{Kernel: []int{2, 2}}, []int{0, 3, 6, 8}, []int{0, 3, 3, 4}},
	}
	types := []array.DType{array.F32, array.F64, array.F16, array.BF16, array.I8, array.U8, array.I32, array.I64}
	for _, c := range cases {
		kerneltest.StepCase{Name: c.name, Step: c.s, Out: kerneltest.Shapes{c.out, c.out}, In: kerneltest.Shapes{c.x}, Index: 1, Meaning: maxPoolMeaning(c.s)}.Check(t, types...)
		kerneltest.StepCase{Name: c.name + ", values only", Step: c.s, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x}, Meaning: maxPoolMeaning(c.s)}.Check(t, array.F32)
	}
}

func TestMaxPoolSpecialValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := array.FromSlice([]float64{1, nan, 5, 2, nan, nan, -inf, -inf, 3, 3, inf, 7}, 1, 12)
	out, at := array.New(array.F64, 1, 6), array.New(array.I64, 1, 6)
	kerneltest.RunStep(t, MaxPool{Kernel: []int{2}}, []*array.Array{out, at}, []*array.Array{x})
	got := array.Data[float64](out)
	require.True(t, math.IsNaN(got[0]) && math.IsNaN(got[2]))
	require.Equal(t, []float64{5, -inf, 3, inf}, []float64{got[1], got[3], got[4], got[5]})
	require.Equal(t, []int64{1, 2, 5, 6, 8, 10}, array.Data[int64](at))
}

func TestAvgPool(t *testing.T) {
	cases := []struct {
		name   string
		s      AvgPool
		x, out []int
	}{
		{"2x2", AvgPool{Kernel: []int{2, 2}, CountIncludePad: true}, []int{2, 3, 6, 8}, []int{2, 3, 3, 4}},
		{"padding counted", AvgPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, CountIncludePad: true}, []int{1, 2, 7, 6}, []int{1, 2, 4, 3}},
		{"padding not counted", AvgPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 2, 7, 6}, []int{1, 2, 4, 3}},
		{"ceil mode counted", AvgPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, CountIncludePad: true}, []int{1, 2, 6, 8}, []int{1, 2, 4, 5}},
		{"ceil mode not counted", AvgPool{Kernel: []int{3, 3}, Stride: []int{2, 2}}, []int{1, 2, 6, 8}, []int{1, 2, 3, 4}},
		{"divisor", AvgPool{Kernel: []int{2, 3}, Stride: []int{1, 2}, PadLo: []int{1, 1}, PadHi: []int{0, 1}, DivisorOverride: 7}, []int{2, 5, 5}, []int{2, 5, 3}},
		{"1d", AvgPool{Kernel: []int{4}, Stride: []int{3}, PadLo: []int{2}, PadHi: []int{2}}, []int{2, 2, 9}, []int{2, 2, 4}},
		{"3d", AvgPool{Kernel: []int{2, 2, 3}, Stride: []int{1, 2, 1}, PadLo: []int{1, 0, 1}, PadHi: []int{1, 0, 1}, CountIncludePad: true}, []int{1, 2, 3, 4, 5}, []int{1, 2, 4, 2, 5}},
		{"no channels", AvgPool{Kernel: []int{2, 2}}, []int{2, 0, 6, 8}, []int{2, 0, 3, 4}},
	}
	for _, c := range cases {
		kerneltest.StepCase{Name: c.name, Step: c.s, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x}, Meaning: func(in, out []kerneltest.RefArray) {
			windowMeaning(in[0], out[0], c.s.Kernel, c.s.Stride, c.s.PadLo, c.s.PadHi, nil, func(pos []int, vals []float64, _ []int, padded int) {
				sum := 0.0
				for _, v := range vals {
					sum += v
				}
				switch {
				case c.s.DivisorOverride != 0:
					sum /= float64(c.s.DivisorOverride)
				case c.s.CountIncludePad:
					sum /= float64(padded)
				default:
					sum /= float64(len(vals))
				}
				out[0].Set(sum, pos...)
			})
		}}.Check(t)
	}
}

// A row of three under kernel 2, stride 2, padding 1 and ceil_mode: the last
// window reaches past the padding, which never counts.
func TestAvgPoolByHand(t *testing.T) {
	x := array.FromSlice([]float32{1, 2, 3}, 1, 1, 3)
	for _, c := range []struct {
		s    AvgPool
		want []float32
	}{
		{AvgPool{Kernel: []int{3}, Stride: []int{2}, PadLo: []int{1}, PadHi: []int{1}, CountIncludePad: true}, []float32{1, 5. / 3}},
		{AvgPool{Kernel: []int{3}, Stride: []int{2}, PadLo: []int{1}, PadHi: []int{1}}, []float32{1.5, 2.5}},
		{AvgPool{Kernel: []int{2}, Stride: []int{2}, CountIncludePad: true}, []float32{1.5, 3}},
		{AvgPool{Kernel: []int{2}, Stride: []int{2}, DivisorOverride: 4}, []float32{0.75, 0.75}},
	} {
		out := array.New(array.F32, 1, 1, 2)
		kerneltest.RunStep(t, c.s, []*array.Array{out}, []*array.Array{x})
		require.Equal(t, c.want, array.Data[float32](out))
	}
	whole := array.New(array.I64, 1, 1)
	kerneltest.RunStep(t, AvgPool{Kernel: []int{3}}, []*array.Array{whole}, []*array.Array{array.FromSlice([]int64{-3, -3, 1}, 1, 3)})
	require.Equal(t, []int64{-1}, array.Data[int64](whole), "integers truncate")
}

func TestAdaptivePool(t *testing.T) {
	cases := []struct {
		name   string
		dims   int
		x, out []int
	}{
		{"to one", 2, []int{2, 3, 7, 5}, []int{2, 3, 1, 1}},
		{"overlapping", 2, []int{1, 2, 7, 10}, []int{1, 2, 3, 4}},
		{"growing", 2, []int{1, 2, 3, 2}, []int{1, 2, 5, 4}},
		{"1d", 1, []int{2, 3, 8}, []int{2, 3, 5}},
		{"without batch", 2, []int{3, 6, 6}, []int{3, 6, 2}},
		{"3d", 3, []int{1, 2, 4, 5, 3}, []int{1, 2, 2, 2, 3}},
		{"no batch", 2, []int{0, 3, 4, 4}, []int{0, 3, 2, 2}},
		{"to nothing", 2, []int{1, 3, 4, 4}, []int{1, 3, 0, 2}},
	}
	for _, c := range cases {
		meaning := func(greatest bool) func(in, out []kerneltest.RefArray) {
			return func(in, out []kerneltest.RefArray) {
				x, y := in[0], out[0]
				lead := len(c.x) - c.dims
				kerneltest.EachPos(y.Shape, func(pos []int) {
					size, from := append([]int{}, pos...), append([]int{}, pos...)
					for d := range pos {
						size[d] = 1
						if d >= lead {
							from[d] = pos[d] * x.Shape[d] / y.Shape[d]
							size[d] = int(math.Ceil(float64((pos[d]+1)*x.Shape[d])/float64(y.Shape[d]))) - from[d]
						}
					}
					sum, count, best, where := 0.0, 0.0, math.Inf(-1), 0
					kerneltest.EachPos(size, func(off []int) {
						flat, p := 0, append([]int{}, from...)
						for d := range p {
							p[d] += off[d]
							if d >= lead {
								flat = flat*x.Shape[d] + p[d]
							}
						}
						v := x.Get(p...)
						sum, count = sum+v, count+1
						if v > best {
							best, where = v, flat
						}
					})
					if greatest {
						y.Set(best, pos...)
						out[1].Set(float64(where), pos...)
					} else {
						y.Set(sum/count, pos...)
					}
				})
			}
		}
		kerneltest.StepCase{Name: c.name + " avg", Step: AdaptiveAvgPool{Spatial: c.dims}, Out: kerneltest.Shapes{c.out}, In: kerneltest.Shapes{c.x}, Meaning: meaning(false)}.Check(t)
		kerneltest.StepCase{Name: c.name + " max", Step: AdaptiveMaxPool{Spatial: c.dims}, Out: kerneltest.Shapes{c.out, c.out}, In: kerneltest.Shapes{c.x}, Index: 1, Meaning: meaning(true)}.Check(t)
	}
}

func TestPoolDoesNotAllocate(t *testing.T) {
	x, k := []*array.Array{array.New(array.F32, 2, 8, 30, 30)}, []int{2, 2}
	kerneltest.RequireNoAllocs(t, MaxPool{Kernel: k}, []*array.Array{array.New(array.F32, 2, 8, 15, 15), array.New(array.I64, 2, 8, 15, 15)}, x)
	kerneltest.RequireNoAllocs(t, AvgPool{Kernel: k}, []*array.Array{array.New(array.F32, 2, 8, 15, 15)}, x)
	kerneltest.RequireNoAllocs(t, AdaptiveAvgPool{Spatial: 2}, []*array.Array{array.New(array.F32, 2, 8, 7, 7)}, x)
}

// TestMaxPoolOfPadding takes windows none of which has an element.
func TestMaxPoolOfPadding(t *testing.T) {
	s := MaxPool{Kernel: []int{2, 2}, Stride: []int{1, 1}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, Dilation: []int{3, 3}}
	inf := math.Inf(-1)
	for d, least := range map[array.DType]float64{array.F32: inf, array.F64: inf, array.F16: inf, array.BF16: inf,
		array.I8: math.MinInt8, array.I16: math.MinInt16, array.I32: math.MinInt32, array.I64: math.MinInt64,
		array.U8: 0, array.U16: 0, array.U32: 0, array.U64: 0} {
		in := []*array.Array{array.Cast(array.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2), d)}
		out := []*array.Array{array.New(d, 1, 1, 1, 1), array.New(array.I64, 1, 1, 1, 1)}
		kerneltest.Soil(out[0].Storage().Bytes())
		kerneltest.Soil(out[1].Storage().Bytes())
		kerneltest.RunStep(t, s, out, in)
		require.Equal(t, least, array.Float64At(out[0], 0), d)
		require.Equal(t, []int64{6}, array.Data[int64](out[1]), "PyTorch's index, of the tap at 2, 2")
	}
}

func TestPoolsOfNothing(t *testing.T) {
	x := array.New(array.F32, 1, 2, 0, 3)
	pad, k := []int{1, 1}, []int{2, 2}
	for _, s := range []par.Step{MaxPool{Kernel: k, PadLo: pad}, AvgPool{Kernel: k, PadLo: pad}, AdaptiveMaxPool{2}, AdaptiveAvgPool{2}} {
		kerneltest.Code(t, operand.EmptyCode, "no elements", func() {
			s.Run(&par.Workspace{}, []*array.Array{array.New(array.F32, 1, 2, 1, 2)}, []*array.Array{x})
		})
	}
}
