package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// chunksOf returns the chunks of the last call of a step that 16 threads would share, and of how many
// indices they are.
func chunksOf(s par.Step, out, in []*array.Array) (chunks, indices int) {
	m := &par.Meter{InTurn: true}
	s.Run(&par.Workspace{Threads: 16, Meter: m}, out, in)
	last := m.Regions[len(m.Regions)-1]
	return last.Chunks, last.Indices
}

// Few panels of channels are computed in more blocks of positions, as many for each thread, and the
// bits are the same.
func TestSpansOfFewChannelsAreShared(t *testing.T) {
	if !hasConvTile(cpu.Host.Level) {
		t.Skip("this level has no assembly for spans")
	}
	for _, c := range []struct{ m, kernel, side int }{{16, 3, 96}, {8, 3, 96}, {14, 3, 97}} {
		pad := []int{c.kernel / 2, c.kernel / 2}
		s := ConvPacked{Conv: Conv{PadLo: pad, PadHi: pad}, Channels: c.m, Kernel: []int{c.kernel, c.kernel}, In: []int{c.side, c.side}}
		r := rand.New(rand.NewPCG(1, 2))
		wt := kerneltest.ToArray(kerneltest.RandomRef(r, []int{c.m, 3, c.kernel, c.kernel}), array.F32, false)
		p := array.New(array.F32, PackedConvLen(s.Conv, s.In, wt.Shape()))
		PackConv{Conv: s.Conv, In: s.In}.Run(&par.Workspace{}, []*array.Array{p}, []*array.Array{wt})
		in := []*array.Array{kerneltest.ToArray(kerneltest.RandomRef(r, []int{1, 3, c.side, c.side}), array.F32, false), p}
		out, want := array.New(array.F32, 1, c.m, c.side, c.side), array.New(array.F32, 1, c.m, c.side, c.side)
		s.Run(&par.Workspace{}, []*array.Array{want}, in)
		v := s.form(out, in[0])
		require.True(t, v.tile == 0 && !v.rows && spansFit(cpu.Host.Level, &v.g, v.outPerGroup, v.perGroup), "%v", c)
		chunks, indices := chunksOf(s, []*array.Array{out}, in)
		require.Zero(t, indices%16, "%v: pieces", c)
		require.Equal(t, indices, chunks, "%v", c)
		require.Equal(t, array.Data[float32](want), array.Data[float32](out))
	}
}

// The products of a transposed convolution are added by all threads, also where channels are few, in
// the order of one thread.
func TestTransposedConvolutionsAreShared(t *testing.T) {
	for _, c := range []struct{ m, kernel, stride, padding, side int }{{1, 2, 2, 0, 48}, {3, 4, 2, 1, 48}, {32, 2, 2, 0, 24}, {2, 5, 3, 2, 40}, {40, 3, 2, 1, 120}} {
		s := ConvTranspose{Stride: []int{c.stride, c.stride}, Padding: []int{c.padding, c.padding}}
		r := rand.New(rand.NewPCG(1, 2))
		side := (c.side-1)*c.stride - 2*c.padding + c.kernel
		for _, biased := range []bool{false, true} {
			in := []*array.Array{kerneltest.ToArray(kerneltest.RandomRef(r, []int{2, 8, c.side, c.side}), array.F32, false),
				kerneltest.ToArray(kerneltest.RandomRef(r, []int{8, c.m, c.kernel, c.kernel}), array.F32, false), nil}
			if biased {
				in[2] = kerneltest.ToArray(kerneltest.RandomRef(r, []int{c.m}), array.F32, false)
			}
			out, want := array.New(array.F32, 2, c.m, side, side), array.New(array.F32, 2, c.m, side, side)
			for i := range array.Data[float32](out) { // what lies there does not count
				array.Data[float32](out)[i] = -1e9
			}
			s.Run(&par.Workspace{}, []*array.Array{want}, in)
			chunks, _ := chunksOf(s, []*array.Array{out}, in)
			if work := c.m * c.side * c.side * c.kernel * c.kernel; work >= 16*scatterWork {
				require.GreaterOrEqual(t, chunks, 16, "%v", c)
			}
			require.Equal(t, array.Data[float32](want), array.Data[float32](out), "%v", c)
		}
	}
}
