package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// prologues are the prologues of a convolution: without factors or terms, with those of
// a channel, with those of each image's channels.
var prologues = []struct {
	Prologue
	factors, terms int // 0: none, 1: of a channel, 2: of a channel of an image
}{
	{Prologue{}, 1, 0}, {Prologue{}, 2, 0}, {Prologue{}, 0, 1}, {Prologue{Act: ActReLU}, 1, 1}, {Prologue{Act: ActReLU6}, 2, 1},
	{Prologue{Act: ActClamp, Lo: -0.25, Hi: float32(math.Inf(1))}, 1, 2}, {Prologue{Act: ActReLU}, 0, 0}, {Prologue{}, 0, 2},
}

// prepared is the result of a prologue on an image, channel by channel.
func prepared(p Prologue, x, factor, term *array.Array, planes int) *array.Array {
	y := array.New(array.F32, x.Shape()...)
	d := array.Data[float32](y)
	copy(d, array.Data[float32](array.Contiguous(x)))
	lo, hi := p.Bounds()
	list := func(a *array.Array, absent float32) []float32 {
		if a == nil {
			return []float32{absent}
		}
		return array.Data[float32](array.Contiguous(a))
	}
	f, b := list(factor, 1), list(term, float32(math.Copysign(0, -1)))
	for i := range d {
		ch := i / (len(d) / planes)
		d[i] = min(max(float32(d[i]*f[ch%len(f)])+b[ch%len(b)], lo), hi)
	}
	return y
}

// A convolution with a prologue gives the bits of the convolution of the prologue's
// result, whichever way it is computed, on any number of threads.
func TestPrologues(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		for k, c := range contractions(r) {
			s, is := c.step(Epilogue{Act: ActReLU, Program: scalars[0]}).(ConvPacked)
			if !is {
				continue
			}
			axis := len(c.x) - len(s.Kernel) - 1
			planes := c.x[axis]
			if axis == 1 {
				planes *= c.x[0]
			}
			for i, p := range prologues {
				if testing.Short() && i != k%len(prologues) {
					continue // one for each way to convolve: emulated processors take minutes
				}
				t.Run(fmt.Sprint(c.name, i), func(t *testing.T) {
					if i == 4 {
						defer cpu.UseCaches(cpu.UseCaches(kerneltest.Caches[0]))
					}
					list := func(kind int) *array.Array {
						n := map[int]int{1: c.x[axis], 2: planes}[kind]
						if kind == 0 {
							return nil
						}
						return kerneltest.ToArray(kerneltest.RandomRef(r, []int{n}), array.F32, i%2 == 1)
					}
					x := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), array.F32, i&2 != 0)
					factor, term := list(p.factors), list(p.terms)
					more, _ := kerneltest.Extra(r, array.F32, i, c.channels, c.y)
					in := append([]*array.Array{x, c.packed}, more...)
					want, out := array.New(array.F32, c.y...), array.New(array.F32, c.y...)
					plain := append([]*array.Array{x, c.packed}, more...)
					if x.Len() > 0 {
						plain[0] = prepared(p.Prologue, x, factor, term, planes)
					}
					s.Run(&Workspace{}, []*array.Array{want}, plain)
					step := s
					step.Prologue = p.Prologue
					kerneltest.RunStep(t, step, []*array.Array{out}, append(in, factor, term))
					require.Equal(t, array.Data[float32](want), array.Data[float32](out))
				})
			}
		}
	})
}

func TestProloguesDoNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for k, c := range contractions(rand.New(rand.NewPCG(43, 44)))[9:20] {
			if testing.Short() && k%4 != 0 {
				continue
			}
			s := c.step(Epilogue{}).(ConvPacked)
			s.Prologue.Act = ActReLU
			kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, c.y...)},
				[]*array.Array{array.New(array.F32, c.x...), c.packed, nil, nil, nil, array.New(array.F32, c.x[1]), array.New(array.F32, c.x[1])})
		}
	})
}
