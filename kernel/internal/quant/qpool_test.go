package quant

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestQPoolAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 150 {
		s := randomConv(r)
		if r.IntN(3) == 0 {
			s.in[len(s.in)-1] += 30 + r.IntN(120)
		}
		for d := range s.kernel {
			s.lo[d], s.hi[d] = min(s.lo[d], s.kernel[d]-1), min(s.hi[d], s.kernel[d]-1)
			s.in[d] = max(s.in[d], (s.kernel[d]-1)*s.dilate[d]+1)
		}
		mean, include := r.IntN(2) == 0, r.IntN(2) == 0
		if mean {
			for d := range s.dilate {
				s.dilate[d] = 1
			}
		}
		d := anyByte(r)
		o := s.outDims()
		x := qArray(r, d, append([]int{s.batch, s.chans}, s.in...)...)
		out := array.New(d, append([]int{s.batch, s.chans}, o...)...)
		xs, ys, xz, yz := qScale(r, 1, 0.1), qScale(r, 1, 0.1), qZero(r, d), qZero(r, d)
		lo, hi := int32(0), int32(255)
		if d == array.I8 {
			lo, hi = -128, 127
		}
		var want []float64
		for plane := range s.batch * s.chans {
			eachIndex(o, func(at []int) {
				sum, n, padded, best := int32(0), 0, 0, lo
				pos := make([]int, len(at))
				eachIndex(s.kernel, func(tap []int) {
					inside := true
					for d := range at {
						pos[d] = at[d]*s.stride[d] - s.lo[d] + tap[d]*s.dilate[d]
						inside = inside && pos[d] >= 0 && pos[d] < s.in[d]
					}
					padded++
					if inside {
						v := int32(array.Int64At(x, plane*operand.Prod(s.in)+flatIndex(s.in, pos)))
						sum, best = sum+v-intAt(xz, 0), max(best, v)
						n++
					}
				})
				if !mean {
					want = append(want, float64(best))
					return
				}
				if include {
					n = padded
				}
				scale := array.Data[float32](xs)[0] / array.Data[float32](ys)[0] / float32(max(n, 1))
				want = append(want, float64(realRound(float32(sum)*scale, lo, hi, intAt(yz, 0))))
			})
		}
		kerneltest.QLevels(t, func(level string) {
			in := []*array.Array{x, xs, xz, ys, yz}
			last := array.New(d, lastChannels(out).Shape()...)
			var plain, turned par.Step = QAvgPool{Kernel: s.kernel, Stride: s.stride, PadLo: s.lo, PadHi: s.hi, CountIncludePad: include},
				QAvgPool{Kernel: s.kernel, Stride: s.stride, PadLo: s.lo, PadHi: s.hi, CountIncludePad: include, ChannelsLast: true}
			if !mean {
				plain = QMaxPool{Kernel: s.kernel, Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate}
				turned = QMaxPool{Kernel: s.kernel, Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, ChannelsLast: true}
			}
			plain.Run(&par.Workspace{Threads: 2}, []*array.Array{out}, in)
			requireValues(t, want, out, "%s %+v mean %v", level, s, mean)
			in[0] = array.Clone(lastChannels(x))
			turned.Run(&par.Workspace{Threads: 2}, []*array.Array{last}, in)
			array.Copy(lastChannels(out), last)
			requireValues(t, want, out, "%s channels last %+v mean %v", level, s, mean)
		})
	}
	require.Panics(t, func() {
		QMaxPool{Kernel: []int{2}}.Run(&par.Workspace{}, []*array.Array{array.New(array.U8, 1, 1, 2, 2)}, []*array.Array{array.New(array.U8, 1, 1, 4, 4)})
	})
}

// TestQMaxPoolOfPadding takes windows none of which has an element.
func TestQMaxPoolOfPadding(t *testing.T) {
	for _, last := range []bool{false, true} {
		q := array.New(array.I8, 1, 1, 1, 1)
		kerneltest.Soil(q.Storage().Bytes())
		kerneltest.RunStep(t, QMaxPool{Kernel: []int{2, 2}, Stride: []int{1, 1}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, Dilation: []int{3, 3}, ChannelsLast: last},
			[]*array.Array{q}, []*array.Array{array.FromSlice([]int8{1, 2, 3, 4}, 1, map[bool]int{false: 1, true: 2}[last], 2, map[bool]int{false: 2, true: 1}[last])})
		require.Equal(t, []int8{-128}, array.Data[int8](q))
	}
}

// TestQAvgPoolBeyondItsOperand has windows that begin after the last line and column, as where a
// size was rounded up, and mean nothing: 0.
func TestQAvgPoolBeyondItsOperand(t *testing.T) {
	one, zero := array.Scalar(float32(1)), array.FromSlice([]uint8{9}, 1)
	x := array.FromSlice([]uint8{11, 13, 10, 10, 11, 13, 10, 10, 9, 9, 9, 9, 19, 19, 19, 19}, 1, 1, 4, 4)
	for stride, want := range map[int][]uint8{2: {12, 10, 9, 14, 14, 9, 9, 9, 9}, 1: {12, 11, 10, 11, 10, 9, 14, 14, 14}} {
		kerneltest.QLevels(t, func(level string) {
			out := array.New(array.U8, 1, 1, 3, 3)
			QAvgPool{Kernel: []int{2, 2}, Stride: []int{stride, stride}}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{x, one, zero, one, zero})
			require.Equal(t, want, array.Bytes(out), "%s %d", level, stride)
		})
	}
}

// TestQAvgPoolOfManyElements has sums that no int32 holds, of a plane and of a window in
// other layouts or next to padding.
func TestQAvgPoolOfManyElements(t *testing.T) {
	one := array.Scalar(float32(1))
	x := array.New(array.U8, 1, 1, 3000, 3000)
	for i := range array.Bytes(x) {
		array.Bytes(x)[i] = 250
	}
	var w par.Workspace
	for _, s := range []QAvgPool{{}, {ChannelsLast: true}, {PadLo: []int{0, 1}, PadHi: []int{0, 0}}} {
		s.Kernel = []int{3000, 3000}
		if s.ChannelsLast {
			x = array.Reshape(x, 1, 3000, 3000, 1)
		}
		out := array.New(array.U8, 1, 1, 1, 1)
		s.Run(&w, []*array.Array{out}, []*array.Array{x, one, nil, one})
		require.Equal(t, uint8(250), array.Bytes(out)[0])
		x = array.Reshape(x, 1, 1, 3000, 3000)
	}
}
