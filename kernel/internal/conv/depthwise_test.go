package conv

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// depthwiseCase is a depthwise convolution of a square or other plane.
type depthwiseCase struct{ groups, multiplier, h, w, kernel, stride, padTop, padLeft, padEnd int }

func (c depthwiseCase) conv(t require.TestingT, floats func(n int) []float32) conv32 {
	s := []int{c.stride, c.stride}
	out := []int{(c.h+c.padTop+c.padEnd-c.kernel)/c.stride + 1, (c.w+c.padLeft+c.padEnd-c.kernel)/c.stride + 1}
	v := conv32{batch: 1, groups: c.groups, perGroup: 1, outPerGroup: c.multiplier}
	v.g = geom.NewSpatial([]int{c.h, c.w}, out, []int{c.kernel, c.kernel}, s, []int{c.padTop, c.padLeft}, nil)
	m := c.groups * c.multiplier
	v.src, v.weight, v.dst = floats(c.groups*v.g.InPlane), floats(m*v.g.Taps), floats(m*v.g.OutPlane)
	v.end = gemm.Finish{BiasRow: floats(m), Ldr: v.g.OutPlane}
	require.True(t, v.fits())
	return v
}

func (c depthwiseCase) String() string {
	n := ""
	for _, v := range []int{c.groups, c.multiplier, c.h, c.w, c.kernel, c.stride, c.padTop, c.padLeft, c.padEnd} {
		n += strconv.Itoa(v) + " "
	}
	return n
}

func filterCases() (list []depthwiseCase) {
	for _, kernel := range []int{3, 5} {
		for _, stride := range []int{1, 2} {
			for _, size := range [][2]int{{1, 1}, {2, 1}, {3, 5}, {4, 3}, {7, 7}, {8, 15}, {14, 14}, {15, 16}, {17, 33}, {29, 40}} {
				for _, pads := range [][3]int{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 1, 2}, {2, 0, 1}, {kernel - 1, 7, 9}} {
					c := depthwiseCase{3, 1 + size[0]%2, size[0], size[1], kernel, stride, pads[0], pads[1], pads[2]}
					if c.h+c.padTop+c.padEnd >= kernel && c.w+c.padLeft+c.padEnd >= kernel {
						list = append(list, c)
					}
				}
			}
		}
	}
	return list
}

// The filters agree with the convolution in Go and read and write nothing
// outside their operands, whatever the epilogue.
func TestDepthwiseFilters(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		if cpu.Host.Level == cpu.Generic {
			t.Skip("level generic is the reference itself")
		}
		r := rand.New(rand.NewPCG(1, 1))
		for i, c := range filterCases() {
			before := i%2 == 0
			floats := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
			v := c.conv(t, floats)
			require.Equal(t, geom.HasWindows(cpu.Host.Level), v.filtered(cpu.Host.Level))
			if i%3 > 0 {
				v.end.Residual = floats(len(v.dst))
			}
			if i%4 > 1 {
				v.end.ScaleRow = floats(len(v.end.BiasRow))
			}
			v.end = v.end.With(operand.Epilogue{Act: operand.Activation(i % 4), Lo: -1, Hi: 0.5})
			want := v
			want.dst = make([]float32, len(v.dst))
			want.runGo(&par.Workspace{})
			v.run(&par.Workspace{Threads: 2})
			require.InDeltaSlice(t, want.dst, v.dst, 1e-4, c.String())
		}
	})
}

// Values that are not numbers spread to the windows that hold them and no further,
// and padding times infinity is not computed.
func TestDepthwiseSpecialValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, stride := range []int{1, 2} {
			for _, special := range []float32{nan, inf, -inf, 1e-41} {
				c := depthwiseCase{2, 1, 9, 9, 3, stride, 1, 1, 1}
				v := c.conv(t, func(n int) []float32 { return make([]float32, n) })
				for i := range v.weight {
					v.weight[i] = 1
				}
				v.src[0], v.src[4*9+4] = special, special
				v.end = v.end.With(operand.Epilogue{})
				want := v
				want.dst = make([]float32, len(v.dst))
				want.runGo(&par.Workspace{})
				if cpu.Assembly() {
					v.run(&par.Workspace{})
				} else {
					v.runGo(&par.Workspace{})
				}
				for i := range want.dst {
					a, b := want.dst[i], v.dst[i]
					require.True(t, a == b || a != a && b != b, "%v at %d: %v, expected %v", special, i, b, a)
				}
				n := 0
				for _, x := range v.dst {
					if x != 0 {
						n++
					}
				}
				require.Equal(t, []int{13, 2}[stride-1], n)
			}
		}
	})
}

func TestDepthwiseDoesNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		s := Conv{Groups: 8, PadLo: []int{1, 1}, PadHi: []int{1, 1}}
		in := []*array.Array{array.New(array.F32, 1, 8, 14, 14), array.New(array.F32, 8, 1, 3, 3), nil}
		kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 1, 8, 14, 14)}, in)
	})
}

func BenchmarkDepthwise(b *testing.B) {
	for _, c := range []depthwiseCase{
		{96, 1, 112, 112, 3, 2, 1, 1, 1}, {32, 1, 112, 112, 3, 1, 1, 1, 1}, {144, 1, 56, 56, 3, 1, 1, 1, 1},
		{672, 1, 14, 14, 5, 1, 2, 2, 2}, {672, 1, 14, 14, 5, 2, 2, 2, 2}, {1152, 1, 7, 7, 5, 1, 2, 2, 2}, {1920, 1, 7, 7, 3, 1, 1, 1, 1},
	} {
		b.Run(c.String(), func(b *testing.B) {
			v := c.conv(b, func(n int) []float32 { return make([]float32, n) })
			v.end = v.end.With(operand.Epilogue{Act: operand.ActReLU6})
			w := &par.Workspace{}
			b.SetBytes(int64(4 * (len(v.src) + len(v.dst))))
			for b.Loop() {
				v.run(w)
			}
			b.ReportMetric(float64(len(v.dst)*v.g.Taps*2)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
