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

// randomGroups returns a convolution in groups of two dimensions or of one, most of
// which are computed from frames; some have planes of more than one band.
func randomGroups(r *rand.Rand) convShape {
	pick := func(list ...int) int { return list[r.IntN(len(list))] }
	s := convShape{batch: 1 + r.IntN(2), groups: pick(2, 4, 5, 8, 32), in: []int{1 + r.IntN(20), 5 + r.IntN(36)}}
	s.chans, s.outChans = s.groups*pick(4, 4, 8, 12), s.groups*pick(4, 4, 8, 20, 3, 36)
	if r.IntN(6) == 0 {
		s.in = []int{40 + r.IntN(60), 60 + r.IntN(90)} // bands
		s.batch, s.groups, s.chans, s.outChans = 1, 4, 16, 16
	}
	if r.IntN(8) == 0 {
		s.in = []int{20 + r.IntN(400)}
	}
	for d := range s.in {
		k := pick(1, 2, 3, 3, 5)
		s.kernel = append(s.kernel, k)
		s.stride = append(s.stride, pick(1, 1, 2))
		s.dilate = append(s.dilate, pick(1, 1, 1, 2, 3))
		s.lo, s.hi = append(s.lo, r.IntN(k+1)), append(s.hi, r.IntN(k+2))
		s.in[d] = max(s.in[d], (k-1)*s.dilate[d]+1)
	}
	return s
}

// TestQConvByGroups compares all levels and numbers of threads with the one without
// assembly.
func TestQConvByGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	formed, bands := 0, 0
	for range 200 {
		s := randomGroups(r)
		c := qCase{
			x: qArray(r, anyByte(r), append([]int{s.batch, s.chans}, s.in...)...),
			w: qArray(r, anyByte(r), append([]int{s.outChans, s.chans / s.groups}, s.kernel...)...),
		}
		qRandom(r, &c, s.outChans, s.chans/s.groups*operand.Prod(s.kernel), append([]int{s.batch, s.outChans}, s.outDims()...))
		if c.wz = nil; c.w.DType() == array.U8 {
			c.wz = array.FromSlice([]uint8{128}, 1)
		}
		if r.IntN(4) > 0 {
			c.res = nil
		}
		step := QConv{Stride: s.stride, PadLo: s.lo, PadHi: s.hi, Dilation: s.dilate, Groups: s.groups, ReLU: c.relu, Max: c.max}
		p := step.plan([]*array.Array{c.out}, c.in())
		if f, ok := p.byGroups(); ok && c.out.DType().Size() == 1 && c.res == nil {
			formed, bands = formed+1, max(bands, f.bands)
		}
		var want *array.Array
		kerneltest.QLevels(t, func(level string) {
			for threads := 1; threads < 4; threads++ {
				w := &par.Workspace{Threads: threads}
				step.Run(w, []*array.Array{c.out}, c.in())
				if want == nil {
					want = array.Clone(c.out)
				}
				require.True(t, array.Equal(want, c.out), "%s %d threads %+v", level, threads, s)
				require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{c.out}, c.in()), "%+v", s)
			}
		})
	}
	require.Greater(t, formed, 50)
	require.Greater(t, bands, 1)
}
