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

// convShape is the geometry of a random convolution.
type convShape struct {
	batch, chans, outChans, groups     int
	in, kernel, stride, dilate, lo, hi []int
}

func randomConv(r *rand.Rand) convShape {
	dims := 1 + r.IntN(3)
	c := convShape{batch: 1 + r.IntN(2), groups: 1, chans: 1 + r.IntN(9), outChans: 1 + r.IntN(40)}
	switch r.IntN(4) {
	case 0:
		c.groups = 1 + r.IntN(3)
		c.chans, c.outChans = c.groups*(1+r.IntN(5)), c.groups*(1+r.IntN(36))
	case 1:
		c.groups = 2 + r.IntN(140)
		c.chans, c.outChans = c.groups, c.groups
	}
	for range dims {
		c.kernel = append(c.kernel, 1+r.IntN(4))
		c.stride = append(c.stride, 1+r.IntN(3))
		c.dilate = append(c.dilate, 1+r.IntN(2))
		c.lo = append(c.lo, r.IntN(3))
		c.hi = append(c.hi, r.IntN(3))
		d := len(c.kernel) - 1
		c.in = append(c.in, max(1, (c.kernel[d]-1)*c.dilate[d]+1-c.lo[d]-c.hi[d])+r.IntN([]int{20, 7, 4}[dims-1]))
	}
	if r.IntN(4) == 0 {
		for d := range dims {
			c.kernel[d], c.stride[d], c.lo[d], c.hi[d] = 1, 1, 0, 0
		}
	}
	return c
}

func (c *convShape) outDims() (o []int) {
	for d, n := range c.in {
		o = append(o, (n+c.lo[d]+c.hi[d]-(c.kernel[d]-1)*c.dilate[d]-1)/c.stride[d]+1)
	}
	return o
}

// eachIndex calls f for every combination of indices below the sizes.
func eachIndex(sizes []int, f func(at []int)) {
	at := make([]int, len(sizes))
	for range operand.Prod(sizes) {
		f(at)
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < sizes[d] {
				break
			}
			at[d] = 0
		}
	}
}

// flatIndex returns the row-major place of an index.
func flatIndex(sizes, at []int) (i int) {
	for d, n := range sizes {
		i = i*n + at[d]
	}
	return i
}

// convExpected computes the convolution by its definition, channels first.
func convExpected(s *convShape, c *qCase) []float64 {
	o := s.outDims()
	perIn, perOut := s.chans/s.groups, s.outChans/s.groups
	x, w := make([]int64, c.x.Len()), make([]int64, c.w.Len())
	for i := range x {
		x[i] = array.Int64At(c.x, i)
	}
	for i := range w {
		w[i] = array.Int64At(c.w, i)
	}
	want := make([]float64, s.batch*s.outChans*operand.Prod(o))
	plane, taps := operand.Prod(s.in), operand.Prod(s.kernel)
	for n := range s.batch {
		for m := range s.outChans {
			xz, wz := c.zeros(m)
			eachIndex(o, func(at []int) {
				sum := int64(0)
				pos := make([]int, len(at))
				eachIndex(s.kernel, func(tap []int) {
					for d := range at {
						pos[d] = at[d]*s.stride[d] - s.lo[d] + tap[d]*s.dilate[d]
						if pos[d] < 0 || pos[d] >= s.in[d] {
							return
						}
					}
					for ch := range perIn {
						v := x[(n*s.chans+m/perOut*perIn+ch)*plane+flatIndex(s.in, pos)] - xz
						sum += v * (w[(m*perIn+ch)*taps+flatIndex(s.kernel, tap)] - wz)
					}
				})
				i := (n*s.outChans+m)*operand.Prod(o) + flatIndex(o, at)
				want[i] = c.expect(sum, m, i)
			})
		}
	}
	return want
}

// lastChannels returns the view with the channels of dimension 1 moved to the end.
func lastChannels(a *array.Array) *array.Array {
	perm := []int{0}
	for d := 2; d < a.Rank(); d++ {
		perm = append(perm, d)
	}
	return array.Permute(a, append(perm, 1)...)
}

func TestQConvAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 250 {
		s := randomConv(r)
		o := s.outDims()
		shape := append([]int{s.batch, s.outChans}, o...)
		c := qCase{
			x: qArray(r, anyByte(r), append([]int{s.batch, s.chans}, s.in...)...),
			w: qArray(r, anyByte(r), append([]int{s.outChans, s.chans / s.groups}, s.kernel...)...),
		}
		qRandom(r, &c, s.outChans, s.chans/s.groups*operand.Prod(s.kernel), shape)
		want := convExpected(&s, &c)
		step := QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups, ReLU: c.relu, Max: c.max}
		packed := array.New(array.I8, QConvPackedBytes(c.w.Shape(), s.groups, s.dilate))
		QPackConv{Groups: s.groups, Dilation: s.dilate}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{c.w})
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{Threads: 1 + r.IntN(2)}
			step.Run(w, []*array.Array{c.out}, c.in())
			requireValues(t, want, c.out, "%s %+v", level, s)
			require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{c.out}, c.in()), "%+v", s)

			last, in := step, c.in()
			last.ChannelsLast, last.Packed, last.Kernel, last.Unsigned = true, true, s.kernel, c.w.DType() == array.U8
			in[qX], in[qW] = array.Clone(lastChannels(c.x)), packed
			if c.res != nil {
				in[qRes] = array.Clone(lastChannels(c.res))
			}
			out := array.New(c.out.DType(), lastChannels(c.out).Shape()...)
			w = &par.Workspace{Threads: 1 + r.IntN(2)}
			last.Run(w, []*array.Array{out}, in)
			array.Copy(lastChannels(c.out), out)
			requireValues(t, want, c.out, "%s channels last %+v", level, s)
			require.LessOrEqual(t, w.HighWater(), last.ScratchBytes([]*array.Array{out}, in), "%+v", s)
		})
	}
}

func TestTransposeBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		rows, cols := r.IntN(40), r.IntN(60)
		if r.IntN(10) == 0 {
			rows = 3
		}
		lds, ldd := cols+r.IntN(3), rows+r.IntN(3)
		src := kerneltest.QBytes(r, rows*lds)
		want := make([]uint8, cols*ldd)
		for i := range rows {
			for c := range cols {
				want[c*ldd+i] = src[i*lds+c]
			}
		}
		kerneltest.QLevels(t, func(level string) {
			got := make([]uint8, len(want))
			transposeBytes(rows, cols, src, lds, got, ldd)
			require.Equal(t, want, got, "%s %dx%d", level, rows, cols)
		})
	}
}

// Scales and biases may lie backwards in memory, in every form.
func TestQConvVectorsBackwards(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, size := range []int{1, 7, 14} {
		for _, chans := range []int{1, 8, 40} {
			x, w := qArray(r, array.U8, 2, chans, size, size), qArray(r, array.I8, 40, chans, 1, 1)
			packed := array.New(array.I8, QConvPackedBytes(w.Shape(), 1, []int{1, 1}))
			QPackConv{Groups: 1, Dilation: []int{1, 1}}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{w})
			scale, bias := array.New(array.F32, 40), array.New(array.I32, 40)
			for i := range 40 {
				array.Data[float32](scale)[i], array.Data[int32](bias)[i] = float32(i+1)/1000, int32(i*50)
			}
			run := func(scale, bias *array.Array) []uint8 {
				out := array.New(array.U8, 2, 40, size, size)
				one := array.Scalar(float32(0.5))
				in := []*array.Array{x, one, nil, w, scale, nil, one, nil, bias}
				(QConv{Stride: []int{1, 1}, PadLo: []int{0, 0}, PadHi: []int{0, 0}, Dilation: []int{1, 1}, Groups: 1}).Run(&par.Workspace{}, []*array.Array{out}, in)
				return array.Data[uint8](out)
			}
			want := run(scale, bias)
			back := func(a *array.Array) *array.Array { return array.Flip(array.Contiguous(array.Flip(a, 0)), 0) }
			require.Equal(t, want, run(back(scale), back(bias)), "%d %d", size, chans)
		}
	}
}
