//go:build linux

package quant

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/narrow"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// fence returns an n-byte slice that ends right before memory that cannot be
// touched, or with low one that starts right after it.
func fence(t *testing.T, n int, low bool) []byte {
	page := syscall.Getpagesize()
	size := operand.RoundUp(max(n, 1), page)
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	require.NoError(t, syscall.Mprotect(b[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(b[page+size:], syscall.PROT_NONE))
	if low {
		return b[page : page+n : page+n]
	}
	return b[page+size-n : page+size : page+size]
}

// fenced returns a copy of a whose memory lies between fences.
func fenced(t *testing.T, a *array.Array, low bool) *array.Array {
	if a == nil || a.Len() == 0 {
		return a
	}
	b := fence(t, a.Len()*a.DType().Size(), low)
	f := array.Make(a.DType(), a.Shape(), array.New(a.DType(), a.Shape()...).Strides(), 0, array.WrapBytes(b))
	array.Copy(f, a)
	return f
}

// guardedConv returns a random convolution of sizes s, and its operands channels last.
func guardedConv(r *rand.Rand, s *convShape) (v qCase, last []*array.Array) {
	v = qCase{
		x: qArray(r, array.U8, append([]int{s.batch, s.chans}, s.in...)...),
		w: qArray(r, array.I8, append([]int{s.outChans, s.chans / s.groups}, s.kernel...)...),
	}
	qRandom(r, &v, s.outChans, 9, append([]int{s.batch, s.outChans}, s.outDims()...))
	last = v.in()
	last[qX] = array.Clone(lastChannels(v.x))
	if v.res != nil {
		last[qRes] = array.Clone(lastChannels(v.res))
	}
	return v, last
}

// guardedGroups returns a convolution of sizes s to results of a type; its operands have the scale xs.
func guardedGroups(r *rand.Rand, s convShape, d array.DType, xs *array.Array) (step QConv, out *array.Array, in []*array.Array) {
	step = QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups}
	out = array.New(d, append([]int{s.batch, s.outChans}, s.outDims()...)...)
	x := qArray(r, anyByte(r), append([]int{s.batch, s.chans}, s.in...)...)
	w := qArray(r, array.I8, append([]int{s.outChans, s.chans / s.groups}, s.kernel...)...)
	return step, out, []*array.Array{x, xs, nil, w, xs, nil, qScale(r, 1, 0.1), nil, nil}
}

// Steps touch no byte outside their operands.
func TestQStepsStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for i := range 40 {
		low := i%2 == 0
		m, n, k := 1+r.IntN(20), 1+r.IntN(70), 1+r.IntN(70)
		c := qCase{x: qArray(r, array.U8, m, k), w: qArray(r, array.I8, n, k)}
		qRandom(r, &c, n, k, []int{m, n})
		s := randomConv(r)
		v, lastIn := guardedConv(r, &s)
		conv := QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups}
		last := conv
		last.ChannelsLast = true
		floats := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k)
		halves := array.Cast(array.FromSlice(kerneltest.RandomFloats(r, n*k), n, k), array.F16)
		table, image := qArray(r, array.U8, 256), qArray(r, array.U8, 1, 2, 6, 80)
		p := randomPlanes(r)
		wide := QConv{Stride: p.stride, PadLo: p.lo, PadHi: p.hi, Dilation: p.dilate, Groups: p.groups}
		wideOut := array.New(array.U8, append([]int{p.batch, p.outChans}, p.outDims()...)...)
		wideIn := []*array.Array{qArray(r, array.U8, append([]int{p.batch, p.chans}, p.in...)...), c.xs, nil,
			qArray(r, array.I8, append([]int{p.outChans, p.chans / p.groups}, p.kernel...)...), c.xs, nil, qScale(r, 1, 0.1), nil, nil}
		if i%4 > 1 {
			wideIn = append(wideIn, nil, qArray(r, array.I8, wideOut.Shape()...), c.xs)
		}
		deep, deepOut, deepIn := guardedGroups(r, randomDepths(r), array.I8, c.xs)
		groups, groupsOut, groupsIn := guardedGroups(r, randomGroups(r), array.U8, c.xs)
		nibbles := []*array.Array{floats, qArray(r, array.U8, n, (k+1)/2), qScale(r, n*((k+31)/32), 1)}
		runs := []struct {
			step par.Step
			out  *array.Array
			in   []*array.Array
		}{
			{QLinear{}, c.out, c.in()},
			{conv, v.out, v.in()},
			{last, array.New(v.out.DType(), lastChannels(v.out).Shape()...), lastIn},
			{QAdd{}, array.New(array.U8, m, k), []*array.Array{c.x, c.xs, nil, c.x, c.xs, nil, c.xs, nil}},
			{Quantize{}, array.New(array.U8, m, k), []*array.Array{floats, c.xs, nil}},
			{QMul{}, array.New(array.U8, m, k), []*array.Array{c.x, c.xs, nil, c.x, c.xs, nil, c.xs, nil}},
			{QTable{}, array.New(array.U8, m, k), []*array.Array{c.x, table}},
			{QMaxPool{Kernel: []int{3, 3}, Stride: []int{2, 2}, PadLo: []int{1, 1}}, array.New(array.U8, 1, 2, 3, 40), []*array.Array{image}},
			{QMaxPool{Kernel: []int{3, 3}, PadLo: []int{1, 1}, Stride: []int{1, 2}, ChannelsLast: true}, array.New(array.U8, 1, 2, 3, 80), []*array.Array{image}},
			{QAvgPool{Kernel: []int{6, 80}}, array.New(array.U8, 1, 2, 1, 1), []*array.Array{image, c.xs, nil, c.xs, nil}},
			{QAvgPool{Kernel: []int{2, 2}}, array.New(array.U8, 1, 2, 3, 40), []*array.Array{image, c.xs, nil, c.xs, nil}},
			{QAvgPool{Kernel: []int{3, 3}, PadLo: []int{1, 1}, Stride: []int{2, 1}}, array.New(array.U8, 1, 2, 3, 80), []*array.Array{image, c.xs, nil, c.xs, nil}},
			{QAdd{}, array.New(array.U8, 2, 6, 80), []*array.Array{array.Reshape(image, 2, 6, 80), c.xs, nil, qArray(r, array.U8, 2, 6, 1), c.xs, nil, c.xs, nil}},
			{QMul{}, array.New(array.U8, 1, 960), []*array.Array{qArray(r, array.U8, 1, 1), c.xs, nil, array.Reshape(image, 1, 960), c.xs, nil, c.xs, nil}},
			{QAvgPool{Kernel: []int{2, 2}, ChannelsLast: true}, array.New(array.U8, 1, 1, 3, 80), []*array.Array{image, c.xs, nil, c.xs, nil}},
			{wide, wideOut, wideIn},
			{deep, deepOut, deepIn},
			{groups, groupsOut, groupsIn},
			{Dequantize{}, array.New(array.F32, m, k), []*array.Array{c.x, c.xs, nil}},
			{narrow.HalfLinear{}, array.New(array.F32, m, n), []*array.Array{floats, halves}},
			{narrow.Int4Linear{Group: 32}, array.New(array.F32, m, n), nibbles},
		}
		for _, run := range runs {
			in := make([]*array.Array, len(run.in))
			for p, a := range run.in {
				in[p] = fenced(t, a, low)
			}
			out := fenced(t, run.out, low)
			kerneltest.QLevels(t, func(level string) {
				w := &par.Workspace{}
				run.step.Run(w, []*array.Array{run.out}, run.in)
				run.step.Run(w, []*array.Array{out}, in)
				require.True(t, array.Equal(run.out, out), "%s %T", level, run.step)
			})
		}
		// The micro-kernels on operands that end at the fence.
		a := fence(t, m*k, low)
		copy(a, array.Data[uint8](c.x))
		sums := fence(t, 4*m*n, low)
		packed := PackQ(true, n, k, array.Data[int8](c.w), k)
		want := make([]int32, m*n)
		QGemm(&par.Workspace{}, m, array.Data[uint8](c.x), k, packed, want, n)
		kerneltest.QLevels(t, func(level string) {
			got := unsafe.Slice((*int32)(unsafe.Pointer(&sums[0])), m*n)
			QGemm(&par.Workspace{}, m, a, k, packed, got, n)
			require.Equal(t, want, got, level)
		})
	}
}

func TestQStepsDoNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
	packed := array.New(array.I8, QLinearPackedBytes(40, 50))
	filter := array.New(array.I8, QConvPackedBytes([]int{8, 4, 3, 3}, 1, nil))
	deep := array.New(array.I8, QConvPackedBytes([]int{4, 1, 3, 3}, 4, nil))
	fours := array.New(array.I8, QConvPackedBytes([]int{32, 4, 3, 3}, 8, nil))
	list := []int{1, 1}
	kernel := []int{3, 3}
	for _, c := range []struct {
		step par.Step
		out  *array.Array
		in   []*array.Array
	}{
		{QLinear{Packed: true}, array.New(array.U8, 30, 40), []*array.Array{qArray(r, array.I8, 30, 50), f, nil, packed, f, nil, f, z, nil, nil}},
		{QConv{Packed: true, Kernel: kernel, PadLo: list}, array.New(array.U8, 1, 8, 9, 9), []*array.Array{qArray(r, array.U8, 1, 4, 9, 9), f, z, filter, f, nil, f, z, nil, nil}},
		{QConv{Packed: true, Kernel: kernel, PadLo: list, Groups: 4}, array.New(array.U8, 1, 4, 9, 9), []*array.Array{qArray(r, array.U8, 1, 4, 9, 9), f, z, deep, f, nil, f, z, nil, nil}},
		{QConv{Packed: true, Kernel: kernel, PadLo: list}, array.New(array.U8, 1, 8, 17, 19), []*array.Array{qArray(r, array.U8, 1, 4, 17, 19), f, z, filter, f, nil, f, z, nil, nil}},
		{QConv{Packed: true, Kernel: kernel, PadLo: list, Groups: 4}, array.New(array.U8, 1, 4, 17, 19), []*array.Array{qArray(r, array.U8, 1, 4, 17, 19), f, z, deep, f, nil, f, z, nil, nil}},
		{QConv{Packed: true, Kernel: kernel, PadLo: list, Groups: 8}, array.New(array.U8, 1, 32, 9, 9), []*array.Array{qArray(r, array.U8, 1, 32, 9, 9), f, z, fours, f, nil, f, z, nil, nil}},
		{QMaxPool{Kernel: kernel, PadLo: list, Stride: []int{2, 2}}, array.New(array.U8, 1, 4, 10, 10), []*array.Array{qArray(r, array.U8, 1, 4, 19, 19)}},
		{QAvgPool{Kernel: kernel, PadLo: list, Stride: []int{2, 2}}, array.New(array.U8, 1, 4, 10, 10), []*array.Array{qArray(r, array.U8, 1, 4, 19, 19), f, z, f, z}},
		{QAvgPool{Kernel: kernel}, array.New(array.U8, 1, 99, 1, 1), []*array.Array{qArray(r, array.U8, 1, 99, 3, 3), f, z, f, z}},
		{QMul{}, array.New(array.U8, 9, 900), []*array.Array{qArray(r, array.U8, 9, 900), f, z, qArray(r, array.U8, 9, 1), f, z, f, z}},
		{QMul{}, array.New(array.U8, 9, 90), []*array.Array{qArray(r, array.U8, 9, 90), f, z, qArray(r, array.U8, 9, 1), f, z, f, z}},
		{QTable{}, array.New(array.U8, 99), []*array.Array{qArray(r, array.U8, 99), qArray(r, array.U8, 256)}},
		{DynamicQuantize{}, nil, []*array.Array{array.New(array.F32, 1<<17)}},
		{QAdd{}, array.New(array.U8, 99), []*array.Array{qArray(r, array.U8, 99), f, z, qArray(r, array.U8, 99), f, z, f, z}},
		{Quantize{}, array.New(array.U8, 99), []*array.Array{array.New(array.F32, 99), f, z}},
		{narrow.HalfLinear{}, array.New(array.F32, 2, 5), []*array.Array{array.New(array.F32, 2, 64), array.New(array.BF16, 5, 64)}},
		{narrow.Int4Linear{Group: 32, Packed: true}, array.New(array.F32, 2, 5), []*array.Array{array.New(array.F32, 2, 64), array.New(array.U8, 160), array.New(array.F32, 5, 2), nil, nil}},
	} {
		w, out := &par.Workspace{Threads: 2}, []*array.Array{c.out}
		if c.out == nil {
			out = []*array.Array{nil, array.New(array.F32), array.New(array.U8)}
		}
		c.step.Run(w, out, c.in)
		c.step.Run(w, out, c.in)
		require.Zero(t, testing.AllocsPerRun(20, func() { c.step.Run(w, out, c.in) }), "%T", c.step)
	}
}
