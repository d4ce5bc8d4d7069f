package quant

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/narrow"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// benchRate runs f, of ops operations, and reports the rate of its shortest runs
// and the share of the rate that dot product instructions reach in the same way:
// other work on the machine disturbs both alike.
func benchRate(b *testing.B, ops float64, f func()) {
	f()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	peak := max(qPeak(), qPeak())
	rate := ops / float64(shortest(f).Nanoseconds())
	b.ReportMetric(rate, "GOP/s")
	if peak > 0 {
		b.ReportMetric(100*rate/peak, "%peak")
	}
}

func benchQGemm(b *testing.B, m, n, k int) {
	r := rand.New(rand.NewPCG(1, 1))
	x, c := kerneltest.QBytes(r, m*k), make([]int32, m*n)
	packed := PackQ(true, n, k, asInt8(kerneltest.QBytes(r, n*k)), k)
	w := &par.Workspace{}
	benchRate(b, 2*float64(m)*float64(n)*float64(k), func() { QGemm(w, m, x, k, packed, c, n) })
}

func BenchmarkQGemm(b *testing.B) {
	for _, s := range [][3]int{{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {128, 768, 768},
		{128, 3072, 768}, {128, 768, 3072}, {1, 1024, 1024}, {16, 1024, 1024}, {196, 256, 1024}, {252, 512, 2048}, {252, 512, 2112}, {252, 512, 4096}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) { benchQGemm(b, s[0], s[1], s[2]) })
	}
}

func BenchmarkQLinear(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1024, 1024, 1024}, {128, 768, 768}, {3136, 64, 256}, {3136, 256, 64}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			m, n, k := s[0], s[1], s[2]
			packed := array.New(array.I8, QLinearPackedBytes(n, k))
			QPackLinear{}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{qArray(r, array.I8, n, k)})
			f := array.FromSlice([]float32{0.01}, 1)
			z := array.FromSlice([]uint8{100}, 1)
			in := []*array.Array{qArray(r, array.U8, m, k), f, z, packed, f, nil, f, z, nil, nil}
			out := []*array.Array{array.New(array.U8, m, n)}
			w := &par.Workspace{}
			step := QLinear{Packed: true}
			benchRate(b, 2*float64(m)*float64(n)*float64(k), func() { step.Run(w, out, in) })
		})
	}
}

// BenchmarkQConv runs convolutions of ResNet-50 and MobileNet, channels first
// and last, and short sums of SqueezeNet and others, channels first.
func BenchmarkQConv(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ chans, size, outChans, kernel, stride, groups int }{
		{3, 224, 64, 7, 2, 1}, {64, 56, 64, 1, 1, 1}, {64, 56, 64, 3, 1, 1}, {64, 56, 256, 1, 1, 1}, {128, 28, 128, 3, 1, 1},
		{256, 14, 256, 3, 1, 1}, {512, 7, 512, 3, 1, 1}, {1024, 14, 256, 1, 1, 1}, {256, 56, 512, 1, 2, 1},
		{64, 112, 64, 3, 2, 64}, {72, 56, 72, 5, 2, 72}, {960, 7, 960, 5, 1, 960},
		{16, 55, 64, 1, 1, 1}, {32, 27, 128, 1, 1, 1}, {48, 13, 192, 1, 1, 1}, {64, 13, 256, 1, 1, 1}, {64, 55, 16, 1, 1, 1}, {128, 55, 16, 1, 1, 1},
		{16, 112, 96, 1, 1, 1}, {24, 56, 144, 1, 1, 1}, {32, 112, 16, 1, 1, 1}, {16, 64, 16, 3, 1, 1}, {3, 224, 64, 3, 2, 1}, {3, 64, 16, 3, 1, 1},
	} {
		for _, last := range []bool{true, false} {
			if last && s.groups == 1 && s.chans < 64 {
				continue
			}
			name := fmt.Sprintf("%dx%dx%d,k%ds%dg%d,last=%v", s.chans, s.size, s.outChans, s.kernel, s.stride, s.groups, last)
			b.Run(name, func(b *testing.B) {
				pad, o := s.kernel/2, (s.size-1)/s.stride+1
				weight := qArray(r, array.I8, s.outChans, s.chans/s.groups, s.kernel, s.kernel)
				packed := array.New(array.I8, QConvPackedBytes(weight.Shape(), s.groups, nil))
				QPackConv{Groups: s.groups}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{weight})
				step := QConv{Packed: true, Kernel: []int{s.kernel, s.kernel}, Stride: []int{s.stride, s.stride}, PadLo: []int{pad, pad},
					PadHi: []int{pad, pad}, Groups: s.groups, ChannelsLast: last}
				f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
				x, out := qArray(r, array.U8, 1, s.chans, s.size, s.size), array.New(array.U8, 1, s.outChans, o, o)
				if last {
					x, out = qArray(r, array.U8, 1, s.size, s.size, s.chans), array.New(array.U8, 1, o, o, s.outChans)
				}
				in := []*array.Array{x, f, z, packed, f, nil, f, z, nil, nil}
				w := &par.Workspace{}
				outs := []*array.Array{out}
				benchRate(b, 2*float64(weight.Len())*float64(o*o), func() { step.Run(w, outs, in) })
			})
		}
	}
}

// BenchmarkQDepthwise runs the depthwise convolutions of MobileNet V3 and EfficientNet
// B0, channels first.
func BenchmarkQDepthwise(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ chans, size, kernel, stride int }{
		{16, 112, 3, 1}, {64, 112, 3, 2}, {72, 56, 3, 1}, {72, 56, 5, 2}, {120, 28, 5, 1}, {240, 28, 3, 2}, {200, 14, 3, 1},
		{480, 14, 3, 1}, {672, 14, 3, 1}, {672, 14, 5, 2}, {960, 7, 5, 1},
		{32, 112, 3, 1}, {96, 112, 3, 2}, {144, 56, 3, 1}, {144, 56, 5, 2}, {240, 28, 5, 1}, {480, 14, 5, 1}, {1152, 7, 5, 1}, {1152, 7, 3, 1},
	} {
		b.Run(fmt.Sprintf("%dx%d,k%ds%d", s.chans, s.size, s.kernel, s.stride), func(b *testing.B) {
			weight := qArray(r, array.I8, s.chans, 1, s.kernel, s.kernel)
			packed := array.New(array.I8, QConvPackedBytes(weight.Shape(), s.chans, nil))
			QPackConv{Groups: s.chans}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{weight})
			pad, o := []int{s.kernel / 2, s.kernel / 2}, (s.size-1)/s.stride+1
			step := QConv{Packed: true, Kernel: []int{s.kernel, s.kernel}, Stride: []int{s.stride, s.stride}, PadLo: pad, PadHi: pad, Groups: s.chans}
			f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
			in := []*array.Array{qArray(r, array.U8, 1, s.chans, s.size, s.size), f, z, packed, f, nil, f, z, nil, nil}
			w, outs := &par.Workspace{}, []*array.Array{array.New(array.U8, 1, s.chans, o, o)}
			benchRate(b, 2*float64(weight.Len())*float64(o*o), func() { step.Run(w, outs, in) })
		})
	}
}

// shortest returns the shortest of some runs of f.
func shortest(f func()) time.Duration {
	d := time.Hour
	for range 30 {
		start := time.Now()
		f()
		d = min(d, time.Since(start))
	}
	return d
}

// BenchmarkSmallWeights reads weights of 16 and of 4 bits for one row and for four.
func BenchmarkSmallWeights(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, k = 512, 4096
	halves := array.New(array.F16, n, k)
	packed := qArray(r, array.U8, narrow.Int4PackedBytes(n, k, 128))
	scale := qScale(r, n*k/128, 1)
	for _, m := range []int{1, 4} {
		x, out := array.New(array.F32, m, k), []*array.Array{array.New(array.F32, m, n)}
		for name, run := range map[string]func(w *par.Workspace){
			"f16": func(w *par.Workspace) { narrow.HalfLinear{}.Run(w, out, []*array.Array{x, halves}) },
			"int4": func(w *par.Workspace) {
				narrow.Int4Linear{Group: 128, Packed: true}.Run(w, out, []*array.Array{x, packed, scale, nil, nil})
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, m), func(b *testing.B) {
				w := &par.Workspace{}
				b.ReportAllocs()
				for b.Loop() {
					run(w)
				}
				bytes := float64(n * k * 2)
				if name == "int4" {
					bytes /= 4
				}
				b.ReportMetric(bytes/float64(shortest(func() { run(w) }).Nanoseconds()), "GB/s")
			})
		}
	}
}

// BenchmarkQGroups runs the convolutions in groups of ResNeXt-50 and others, channels first.
func BenchmarkQGroups(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range []struct{ chans, size, stride, groups, kernel int }{
		{128, 56, 1, 32, 3}, {256, 56, 2, 32, 3}, {256, 28, 1, 32, 3}, {512, 28, 2, 32, 3}, {512, 14, 1, 32, 3}, {1024, 14, 2, 32, 3}, {1024, 7, 1, 32, 3},
		{2048, 7, 1, 32, 3}, {256, 14, 1, 4, 3}, {256, 14, 1, 8, 3}, {192, 27, 1, 2, 5}, {192, 28, 1, 3, 1}, {192, 28, 1, 8, 1}, {480, 14, 1, 8, 1}, {96, 112, 1, 6, 3},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%d,g%dk%ds%d/%d", s.chans, s.size, s.groups, s.kernel, s.stride, threads), func(b *testing.B) {
				weight := qArray(r, array.I8, s.chans, s.chans/s.groups, s.kernel, s.kernel)
				packed := array.New(array.I8, QConvPackedBytes(weight.Shape(), s.groups, nil))
				QPackConv{Groups: s.groups}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{weight})
				o, pad := (s.size-1)/s.stride+1, []int{s.kernel / 2, s.kernel / 2}
				step := QConv{Packed: true, Kernel: []int{s.kernel, s.kernel}, Stride: []int{s.stride, s.stride}, PadLo: pad, PadHi: pad, Groups: s.groups}
				f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
				in := []*array.Array{qArray(r, array.U8, 1, s.chans, s.size, s.size), f, z, packed, f, nil, f, z, nil, nil}
				w, outs := &par.Workspace{Threads: threads}, []*array.Array{array.New(array.U8, 1, s.chans, o, o)}
				benchRate(b, 2*float64(weight.Len())*float64(o*o), func() { step.Run(w, outs, in) })
			})
		}
	}
}

// BenchmarkQPairs adds and multiplies planes: of two images, and with one byte for each channel.
func BenchmarkQPairs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
	for _, step := range []par.Step{QAdd{}, QMul{}} {
		for _, s := range [][3]int{{64, 56, 56}, {256, 28, 28}, {512, 14, 14}, {1024, 7, 7}} {
			for _, second := range [][]int{{s[0], s[1], s[2]}, {s[0], 1, 1}} {
				b.Run(fmt.Sprintf("%T/%v+%v", step, s, second), func(b *testing.B) {
					in := []*array.Array{qArray(r, array.U8, s[:]...), f, z, qArray(r, array.U8, second...), f, z, f, z}
					out := []*array.Array{array.New(array.U8, s[:]...)}
					for b.Loop() {
						step.Run(&par.Workspace{}, out, in)
					}
					kerneltest.PerElement(b, s[0]*s[1]*s[2])
				})
			}
		}
	}
}

// BenchmarkQAvgPool takes means of windows, and of whole planes.
func BenchmarkQAvgPool(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
	for _, s := range []struct{ chans, size, kernel, stride, pad int }{
		{128, 56, 2, 2, 0}, {256, 28, 2, 2, 0}, {512, 14, 2, 2, 0}, {64, 56, 3, 1, 1}, {64, 56, 3, 2, 1}, {1024, 7, 7, 7, 0}, {72, 28, 28, 28, 0}, {96, 112, 112, 112, 0},
	} {
		b.Run(fmt.Sprintf("%dx%d,k%ds%d", s.chans, s.size, s.kernel, s.stride), func(b *testing.B) {
			o := (s.size+2*s.pad-s.kernel)/s.stride + 1
			in := []*array.Array{qArray(r, array.U8, 1, s.chans, s.size, s.size), f, z, f, z}
			out := []*array.Array{array.New(array.U8, 1, s.chans, o, o)}
			step := QAvgPool{Kernel: []int{s.kernel, s.kernel}, Stride: []int{s.stride, s.stride}, PadLo: []int{s.pad, s.pad}}
			for b.Loop() {
				step.Run(&par.Workspace{}, out, in)
			}
			kerneltest.PerElement(b, s.chans*s.size*s.size)
		})
	}
}

// BenchmarkDynamicQuantize quantises rows of a text, and of what a layer of it makes of them.
func BenchmarkDynamicQuantize(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{768, 3072} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := array.FromSlice(kerneltest.RandomFloats(r, 128*n), 128, n)
			out := []*array.Array{array.New(array.U8, 128, n), array.New(array.F32, 1), array.New(array.U8, 1)}
			for b.Loop() {
				DynamicQuantize{}.Run(&par.Workspace{}, out, []*array.Array{x})
			}
			kerneltest.PerElement(b, 128*n)
		})
	}
}
