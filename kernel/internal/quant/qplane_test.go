package quant

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// randomPlanes returns a convolution that processors with dot products of bytes
// compute by planes: two dimensions, strides up to 2 along lines.
func randomPlanes(r *rand.Rand) convShape {
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	s := convShape{batch: pick(1, 1, 2, 4), groups: pick(1, 1, 1, 2), in: []int{3 + r.IntN(14), 5 + r.IntN(40)}}
	s.chans, s.outChans = s.groups*pick(4, 8, 12, 20), s.groups*(1+r.IntN(75))
	if s.groups == 1 && r.IntN(3) == 0 {
		s.chans = 1 + r.IntN(9)
	}
	for d := range 2 {
		k := pick(1, 2, 3, 3, 5)
		s.kernel = append(s.kernel, k)
		s.stride = append(s.stride, pick(1, 1, 2))
		s.dilate = append(s.dilate, pick(1, 1, 1, 2))
		s.lo, s.hi = append(s.lo, r.IntN(k)), append(s.hi, r.IntN(k))
		s.in[d] = max(s.in[d], (k-1)*s.dilate[d]+1)
	}
	switch r.IntN(4) {
	case 0:
		s.kernel, s.lo, s.hi = []int{1, 1}, []int{0, 0}, []int{0, 0}
	case 1:
		// Positions that leave a few after whole vectors.
		s.kernel, s.lo, s.hi, s.stride = []int{1, 1}, []int{0, 0}, []int{0, 0}, []int{1, 1}
		s.in = [][]int{{7, 7}, {14, 14}, {1, 18}, {3, 17}, {5, 10}}[r.IntN(5)]
	}
	return s
}

// TestQConvByPlanes compares all levels with the one without assembly.
func TestQConvByPlanes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	formed, plain, apart := 0, 0, 0
	for range 180 {
		s := randomPlanes(r)
		c := qCase{
			x: qArray(r, anyByte(r), append([]int{s.batch, s.chans}, s.in...)...),
			w: qArray(r, anyByte(r), append([]int{s.outChans, s.chans / s.groups}, s.kernel...)...),
		}
		qRandom(r, &c, s.outChans, s.chans/s.groups*operand.Prod(s.kernel), append([]int{s.batch, s.outChans}, s.outDims()...))
		if c.w.DType() == array.I8 && r.IntN(4) > 0 {
			c.wz = nil
		}
		if r.IntN(4) == 0 {
			c.yz, c.max = nil, 0 // results that saturation alone clamps
		}
		step := QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups, ReLU: c.relu, Max: c.max}
		p := step.plan([]*array.Array{c.out}, c.in())
		if _, ok := p.planes(); ok && c.out.DType().Size() == 1 && !offCentre(c.wz, c.w.DType() == array.U8, 0, s.outChans) {
			formed++
			plain += b2i(c.yz == nil && c.out.DType() == array.U8)
			apart += b2i(p.mostApart() > 1)
		}
		var want *array.Array
		kerneltest.QLevels(t, func(level string) {
			for threads := 1; threads < 4; threads++ {
				w := &par.Workspace{Threads: threads}
				step.Run(w, []*array.Array{c.out}, c.in())
				if want == nil {
					want = array.Clone(c.out)
				}
				require.True(t, array.Equal(want, c.out), "%s %+v", level, s)
				require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{c.out}, c.in()), "%+v", s)
			}
		})
	}
	require.Greater(t, formed, 30)
	require.Greater(t, plain, 5)
	require.True(t, apart > 10 || par.Machine(2) < 2)
}

// TestQConvImagesApart counts goroutines and allocations where each convolves whole images.
func TestQConvImagesApart(t *testing.T) {
	require.Equal(t, []int{1, 2, 3, 4, 1, 8, 1}, apartOf(8, 1, 2, 3, 4, 5, 8, 16))
	require.Equal(t, []int{2, 3, 4, 1}, apartOf(15, 2, 3, 4, 6))
	require.Equal(t, []int{1, 1}, apartOf(1, 1, 2))
	r := rand.New(rand.NewPCG(35, 36))
	f, z := array.FromSlice([]float32{0.01}, 1), array.FromSlice([]uint8{100}, 1)
	for _, s := range []struct{ chans, groups, kernel, stride int }{
		{32, 1, 1, 1}, {32, 1, 3, 1}, {32, 1, 3, 2}, {3, 1, 3, 2}, {32, 1, 1, 2}, {32, 8, 3, 1}, {32, 32, 3, 1}, {32, 32, 3, 2},
	} {
		pad, o := []int{s.kernel / 2, s.kernel / 2}, (27-1)/s.stride+1
		outs := max(s.chans, 32)
		step := QConv{Stride: []int{s.stride, s.stride}, PadLo: pad, PadHi: pad, Groups: s.groups}
		x, weight := qArray(r, array.U8, 8, s.chans, 27, 27), qArray(r, array.I8, outs, s.chans/s.groups, s.kernel, s.kernel)
		in := []*array.Array{x, f, z, weight, f, nil, f, z, nil, nil}
		want, out := array.New(array.U8, 8, outs, o, o), array.New(array.U8, 8, outs, o, o)
		for i := range 8 {
			one := slices.Clone(in)
			one[qX] = array.Slice(x, 0, i, i+1, 1)
			step.Run(&par.Workspace{}, []*array.Array{array.Slice(want, 0, i, i+1, 1)}, one)
		}
		w := &par.Workspace{Threads: 2}
		kerneltest.RequireNoAllocs(t, step, []*array.Array{out}, in)
		clear(array.Data[uint8](out))
		step.Run(w, []*array.Array{out}, in)
		require.True(t, array.Equal(want, out), "%+v", s)
		require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{out}, in), "%+v", s)
	}
}

func apartOf(batch int, threads ...int) (list []int) {
	for _, n := range threads {
		p := qConvPlan{batch: batch}
		list = append(list, p.apart(n))
	}
	return list
}

// randomDepths returns a depthwise convolution of two dimensions, most of which are
// computed by planes; some have planes of more than one band.
func randomDepths(r *rand.Rand) convShape {
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	n, k, stride, dilate := 2+r.IntN(70), pick(3, 5), pick(1, 2), pick(1, 1, 1, 2)
	s := convShape{batch: 1 + r.IntN(2), chans: n, outChans: n, groups: n, kernel: []int{k, 1 + r.IntN(6)},
		stride: []int{stride, stride}, dilate: []int{1, dilate}, lo: []int{r.IntN(k), r.IntN(7)}, hi: []int{r.IntN(9), r.IntN(4)},
		in: []int{k + r.IntN(20), 11 + r.IntN(50)}}
	if r.IntN(3) == 0 {
		s.in[1], s.lo[1], s.hi[1] = 5*dilate+1+r.IntN(4*stride), r.IntN(3), r.IntN(3) // short lines
		if r.IntN(2) == 0 {
			s.in[0] = k + r.IntN(6) // and few of them
		}
	}
	if r.IntN(5) == 0 {
		s.chans, s.outChans, s.groups = 3, 3, 3
		s.in = []int{20 + r.IntN(100), 100 + r.IntN(900)}
	}
	return s
}

// TestQDepthwiseByPlanes compares all levels and numbers of threads with the result of
// the same image with channels last, where no frame is laid out.
func TestQDepthwiseByPlanes(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	formed, bands, pairs, straight, narrow, parts, plain := 0, 0, 0, 0, 0, 0, 0
	for range 240 {
		s := randomDepths(r)
		c := qCase{
			x: qArray(r, anyByte(r), append([]int{s.batch, s.chans}, s.in...)...),
			w: qArray(r, anyByte(r), append([]int{s.chans, 1}, s.kernel...)...),
		}
		qRandom(r, &c, s.chans, operand.Prod(s.kernel), append([]int{s.batch, s.chans}, s.outDims()...))
		if c.wz = nil; c.w.DType() == array.U8 {
			c.wz = array.FromSlice([]uint8{128}, 1)
		}
		if r.IntN(4) > 0 {
			c.res = nil
		}
		if r.IntN(4) == 0 {
			c.yz, c.max = nil, 0 // results that saturation alone clamps
		}
		step := QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups, ReLU: c.relu, Max: c.max}
		p := step.plan([]*array.Array{c.out}, c.in())
		if f, ok := p.depthWays(c.out, c.in(), 1e-6, c.w.DType() == array.U8); ok {
			formed, bands = formed+1, max(bands, f.bands)
			if f.straight {
				straight, parts = straight+1, max(parts, f.direct.bands)
				plain += b2i(c.yz == nil && c.out.DType() == array.U8)
				narrow += b2i(f.direct.narrow)
			}
			if f.pairs {
				pairs++
			}
		}
		last, in := step, c.in()
		last.ChannelsLast = true
		in[qX] = array.Clone(lastChannels(c.x))
		if c.res != nil {
			in[qRes] = array.Clone(lastChannels(c.res))
		}
		want := array.New(c.out.DType(), lastChannels(c.out).Shape()...)
		last.Run(&par.Workspace{}, []*array.Array{want}, in)
		kerneltest.QLevels(t, func(level string) {
			for threads := 1; threads < 4; threads++ {
				w := &par.Workspace{Threads: threads}
				step.Run(w, []*array.Array{c.out}, c.in())
				require.True(t, array.Equal(want, array.Clone(lastChannels(c.out))), "%s %d threads %+v", level, threads, s)
				require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{c.out}, c.in()), "%+v", s)
			}
		})
	}
	require.Greater(t, formed, 50)
	require.Greater(t, bands, 2)
	require.True(t, pairs > 10 || !qVNNI())
	require.True(t, min(straight-50, narrow-10, plain-10, parts-2) > 0 || !qVBMI(), "%d %d %d %d", straight, narrow, plain, parts)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
