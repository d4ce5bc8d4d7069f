package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// poolGeometries are pools that there is assembly for, with each padding that
// their windows allow and, half of them, a last window that reaches beyond it.
func poolGeometries() (list []geom.Spatial) {
	for _, k := range []int{2, 3} {
		for _, stride := range []int{1, 2} {
			for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 1}, {7, 7}, {8, 15}, {14, 17}, {16, 33}, {31, 40}} {
				for pad := range k/2 + 1 {
					for ceil := range 2 {
						out := [2]int{}
						for d, n := range size {
							out[d] = (n+2*pad-k+ceil*(stride-1))/stride + 1
							if (out[d]-1)*stride >= n+pad { // every window begins before the padding at the end
								out[d]--
							}
						}
						if size[0]+2*pad < k || size[1]+2*pad < k {
							continue
						}
						list = append(list, geom.NewSpatial(size[:], out[:], []int{k, k}, []int{stride, stride}, []int{pad, pad}, nil))
					}
				}
			}
		}
	}
	return list
}

func bitsOf(s []float32) []uint32 {
	b := make([]uint32, len(s))
	for i, v := range s {
		b[i] = math.Float32bits(v)
		if v != v {
			b[i] = math.Float32bits(float32(math.NaN())) // any NaN is as good
		}
	}
	return b
}

// The assembly's maxima and averages are those of Go, bit by bit, and it touches
// nothing outside its operands.
func TestPoolWindows(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1e-41}
	kerneltest.EachLevel(t, func(t *testing.T) {
		if !geom.HasWindows(cpu.Host.Level) {
			t.Skip("level generic is the reference itself")
		}
		r := rand.New(rand.NewPCG(1, 1))
		for i, g := range poolGeometries() {
			require.True(t, poolable(&g))
			planes := 1 + i%3
			src, dst := kerneltest.GuardedFloats(t, r, planes*g.InPlane, i%2 == 0), kerneltest.GuardedFloats(t, r, planes*g.OutPlane, i%2 == 0)
			for range i % 4 {
				src[r.IntN(len(src))] = special[r.IntN(len(special))]
			}
			name := fmt.Sprint(g)
			want := make([]float32, len(dst))
			at, found := make([]int64, len(dst)), make([]int64, len(dst))
			maxPool(&par.Workspace{}, g, want, at, src)
			maxWindows(&par.Workspace{Threads: 2}, g, dst, nil, src)
			require.Equal(t, bitsOf(want), bitsOf(dst), name)
			for i := range src { // few different values: many equal ones
				if i%3 > 0 && src[i] == src[i] {
					src[i] = float32(int(4*src[i])) / 4
				}
			}
			maxPool(&par.Workspace{}, g, want, at, src)
			maxWindows(&par.Workspace{Threads: 2}, g, dst, found, src)
			require.Equal(t, bitsOf(want), bitsOf(dst), name)
			require.Equal(t, at, found, name)
			p := avgPoolJob[float32]{Spatial: g, dst: want, src: src, end: g.In, include: i%3 == 0, divisor: i % 5 / 4 * 7}
			for d := 1; d < 3; d++ {
				p.end[d] += g.PadLo[d]
			}
			p.Do(0, planes)
			p.dst = dst
			avgWindows(&par.Workspace{Threads: 2}, &p)
			require.Equal(t, bitsOf(want), bitsOf(dst), name)
		}
	})
}

func TestMeanPlanes(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		if !geom.HasWindows(cpu.Host.Level) {
			t.Skip("this level has no assembly: computed in Go")
		}
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{1, 2, 7, 8, 15, 16, 17, 33, 49, 64, 100, 196} {
			for planes := 1; planes < 11; planes++ {
				src, dst := kerneltest.GuardedFloats(t, r, planes*n, planes%2 == 0), kerneltest.GuardedFloats(t, r, planes, planes%2 == 0)
				meanPlanes(cpu.Host.Level, dst, src, n)
				for i, got := range dst {
					sum, size := 0.0, 0.0
					for _, v := range src[i*n : (i+1)*n] {
						sum, size = sum+float64(v), size+math.Abs(float64(v))
					}
					require.InDelta(t, sum/float64(n), got, size/float64(n)*1e-6)
				}
				again := make([]float32, 1)
				meanPlanes(cpu.Host.Level, again, src[(planes-1)*n:], n)
				require.Equal(t, dst[planes-1], again[0], "a mean depends on the planes around it")
			}
		}
	})
}

func TestPoolWindowsDoNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x, y := []*array.Array{array.New(array.F32, 1, 8, 30, 30)}, []*array.Array{array.New(array.F32, 1, 8, 15, 15)}
		s := MaxPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}}
		kerneltest.RequireNoAllocs(t, s, y, x)
		kerneltest.RequireNoAllocs(t, AvgPool{Kernel: s.Kernel, Stride: s.Stride, PadLo: s.PadLo}, y, x)
		kerneltest.RequireNoAllocs(t, AdaptiveAvgPool{Spatial: 2}, []*array.Array{array.New(array.F32, 1, 8, 1, 1)}, x)
		for _, s := range []par.Step{s, AvgPool{Kernel: []int{2, 2}}} {
			w := &par.Workspace{}
			s.Run(w, y, x)
			require.LessOrEqual(t, w.HighWater(), s.(par.Scratcher).ScratchBytes(y, x))
		}
	})
}

func BenchmarkPool(b *testing.B) {
	x := array.New(array.F32, 1, 64, 112, 112)
	y := array.New(array.F32, 1, 64, 56, 56)
	same := array.New(array.F32, 1, 64, 112, 112)
	top := array.New(array.F32, 1, 2048, 7, 7)
	one := array.New(array.F32, 1, 2048, 1, 1)
	pad, two, three := []int{1, 1}, []int{2, 2}, []int{3, 3}
	for _, c := range []struct {
		name string
		s    par.Step
		y, x *array.Array
	}{
		{"max3s2", MaxPool{Kernel: three, Stride: two, PadLo: pad}, y, x},
		{"max2s2", MaxPool{Kernel: two}, y, x},
		{"max3s1", MaxPool{Kernel: three, Stride: []int{1, 1}, PadLo: pad}, same, x},
		{"avg3s2", AvgPool{Kernel: three, Stride: two, PadLo: pad}, y, x},
		{"avg2s2", AvgPool{Kernel: two}, y, x},
		{"avg3s1", AvgPool{Kernel: three, Stride: []int{1, 1}, PadLo: pad}, same, x},
		{"global", AdaptiveAvgPool{Spatial: 2}, one, top},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := &par.Workspace{}
			b.SetBytes(int64(4 * (c.x.Len() + c.y.Len())))
			for b.Loop() {
				c.s.Run(w, []*array.Array{c.y}, []*array.Array{c.x})
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 1))
	src := array.Data[float32](x)
	for i := range src {
		src[i] = r.Float32()
	}
	places := array.New(array.I64, y.Shape()...)
	s := MaxPool{Kernel: three, Stride: two, PadLo: pad}
	b.Run("places3s2", func(b *testing.B) {
		for b.Loop() {
			s.Run(&par.Workspace{}, []*array.Array{y, places}, []*array.Array{x})
		}
	})
	b.Run("places3s2 in Go", func(b *testing.B) {
		for b.Loop() {
			maxPool(&par.Workspace{}, s.geometry(y, x), array.Data[float32](y), array.Data[int64](places), src)
		}
	})
}
