package conv

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// A weight that lies as it does gives what a packed one does: every geometry, with every
// epilogue, a prologue or none, and the bits of Conv where nothing follows direct sums.
func TestConvFused(t *testing.T) {
	cases := []struct {
		s       Conv
		x, w, y []int
	}{
		{Conv{PadLo: []int{1, 1}}, []int{2, 3, 9, 8}, []int{17, 3, 3, 3}, []int{2, 17, 9, 8}},
		{Conv{}, []int{1, 5, 6, 7}, []int{30, 5, 1, 1}, []int{1, 30, 6, 7}},
		{Conv{Stride: []int{2, 2}}, []int{2, 5, 6, 7}, []int{4, 5, 1, 1}, []int{2, 4, 3, 4}},
		{Conv{Stride: []int{2, 3}, PadLo: []int{1, 0}}, []int{2, 4, 9, 9}, []int{6, 2, 3, 2}, []int{2, 6, 5, 3}},
		{Conv{PadLo: []int{2, 2}}, []int{2, 3, 8, 20}, []int{3, 1, 5, 5}, []int{2, 3, 8, 20}},
		{Conv{PadLo: []int{1}}, []int{3, 6}, []int{4, 3, 3}, []int{4, 6}},
		{Conv{}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 3, 3}},
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 10))
		for i, c := range cases {
			lead := len(c.y) - len(c.w) + 2
			if c.w[1] > 0 {
				c.s.Groups = c.x[lead-1] / c.w[1]
			}
			for subset := range 8 {
				t.Run(fmt.Sprint(c.x, c.w, subset), func(t *testing.T) {
					dt := []array.DType{array.F32, array.F16, array.BF16}[(i+subset)%3]
					images := append([]int{8}, c.x[lead:]...)
					step := ConvFused{Conv: c.s, In: images, Epilogue: kerneltest.EpilogueAt(i + subset/2)}
					x, wt := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), dt, subset&2 != 0), kerneltest.ToArray(kerneltest.RandomRef(r, c.w), dt, subset&4 != 0)
					more, ref := kerneltest.Extra(r, dt, subset, c.w[0], c.y)
					if subset%3 == 1 {
						step.Prologue.Act = operand.ActReLU
					}
					out, want := array.New(dt, c.y...), kerneltest.NewRef(c.y...)
					kerneltest.RunStep(t, step, []*array.Array{out}, append([]*array.Array{x, wt}, more...))
					a, b, y := kerneltest.ToRef(x), kerneltest.ToRef(wt), want
					for j, v := range a.V {
						if step.Prologue.Act == operand.ActReLU {
							a.V[j] = max(v, 0)
						}
					}
					if lead == 1 {
						a.Shape, y.Shape = append([]int{1}, a.Shape...), append([]int{1}, y.Shape...)
					}
					kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))([]kerneltest.RefArray{a, b, {}}, []kerneltest.RefArray{y})
					plane := len(want.V) / (c.w[0] * y.Shape[0])
					for j := range want.V {
						m := j / plane % c.w[0]
						want.V[j] = kerneltest.Finish(want.V[j], step.Epilogue, ref[1].Or(m, 1), ref[0].Or(m, 0), ref[2].Or(j, 0))
					}
					kerneltest.RequireClose(t, want, out)

					same, direct := array.New(dt, c.y...), array.New(dt, c.y...)
					kerneltest.RunStep(t, c.s, []*array.Array{same}, []*array.Array{x, wt, more[0]})
					kerneltest.RunStep(t, ConvFused{Conv: c.s}, []*array.Array{direct}, []*array.Array{x, wt, more[0]})
					if cpu.Assembly() {
						kerneltest.RequireEqualArrays(t, same, direct)
					} // else the bias comes first there
				})
			}
		}
	})
}

// The expected sizes choose, the same for any images that come, and one image does not pay for
// transforms that eight do.
func TestConvFusedChooses(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		s := ConvFused{Conv: Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, In: []int{8, 56, 56}}
		kernel := []int{3, 3}
		require.Equal(t, 4, s.tile(64, 64, kernel))
		s.In = []int{1, 4, 4}
		require.Zero(t, s.tile(512, 512, kernel))
		s.In = nil
		require.Zero(t, s.tile(64, 64, kernel))
		s.In = []int{8, 56, 56}
		s.Stride = []int{2, 2}
		require.Zero(t, s.tile(64, 64, kernel))
	})
}

// Filters that are transformed in the run are those that were packed: the same bits, on any
// number of threads, and no allocation.
func TestConvFusedAsPacked(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for i, size := range []int{12, 28} {
			x, wt := kerneltest.RandomArray(r, array.F32, []int{3, 128, size, size}), kerneltest.RandomArray(r, array.F32, []int{96, 64, 3, 3})
			more, _ := kerneltest.Extra(r, array.F32, 7, 96, []int{3, 96, size, size})
			c := Conv{Groups: 2, PadLo: []int{1, 1}, PadHi: []int{1, 1}}
			once := ConvFused{Conv: c, In: []int{64, size, size}, Epilogue: kerneltest.EpilogueAt(i), Prologue: operand.Prologue{Act: operand.ActReLU}}
			pack := PackConv{Conv: c, In: []int{size, size}}
			packed := ConvPacked{Conv: c, Channels: 96, Kernel: []int{3, 3}, In: pack.In, Epilogue: once.Epilogue, Prologue: once.Prologue}
			if once.tile(96, 64, packed.Kernel) == 0 && runtime.GOARCH == "arm64" {
				t.Skip("filters are transformed in Go, which does not pay at these sizes")
			}
			require.NotZero(t, once.tile(96, 64, packed.Kernel))
			require.Equal(t, pack.tile(96, 64, packed.Kernel), once.tile(96, 64, packed.Kernel))
			weight := array.New(array.F32, PackedConvLen(c, pack.In, wt.Shape()))
			pack.Run(&par.Workspace{Threads: 2}, []*array.Array{weight}, []*array.Array{wt})
			want := array.New(array.F32, 3, 96, size, size)
			packed.Run(&par.Workspace{}, []*array.Array{want}, append([]*array.Array{x, weight}, more...))
			in := append([]*array.Array{x, wt}, more...)
			for threads := 1; threads <= 4; threads++ {
				got := array.New(array.F32, 3, 96, size, size)
				once.Run(&par.Workspace{Threads: threads}, []*array.Array{got}, in)
				kerneltest.RequireEqualArrays(t, want, got)
			}
			kerneltest.RequireNoAllocs(t, once, []*array.Array{want}, in)
		}
	})
}

// A transposed convolution by Winograd's algorithm is that by a packed weight which is turned, to the
// bit, on any number of threads; other ones are those of ConvTranspose.
func TestConvTransposeFused(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 4))
		for pad := range 4 {
			const size, groups, m, per = 14, 2, 64, 64
			some := func(shape ...int) *array.Array {
				return kerneltest.ToArray(kerneltest.RandomRef(r, shape), array.F32, false)
			}
			x, wt, bias := some(3, groups*per, size, size), some(groups*per, m, 3, 3), some(groups*m)
			s := ConvTransposeFused{ConvTranspose: ConvTranspose{Groups: groups, Padding: []int{pad, pad}}, In: []int{64, size, size}}
			out := size + 2 - 2*pad
			got, want := array.New(array.F32, 3, groups*m, out, out), array.New(array.F32, 3, groups*m, out, out)
			in := []*array.Array{x, wt, bias}
			kerneltest.RunStep(t, s, []*array.Array{got}, in)
			if pad == 3 {
				require.Zero(t, s.tile(wt))
				s.ConvTranspose.Run(&par.Workspace{}, []*array.Array{want}, in)
				kerneltest.RequireEqualArrays(t, want, got)
				continue
			}
			if s.tile(wt) == 0 && runtime.GOARCH == "arm64" {
				t.Skip("filters are transformed in Go, which does not pay at these sizes")
			}
			require.NotZero(t, s.tile(wt))
			turned := array.New(array.F32, groups*m, per, 3, 3)
			for i, v := range array.Data[float32](wt) {
				c, o, tap := i/(9*m), i/9%m, i%9
				array.Data[float32](turned)[((c/per*m+o)*per+c%per)*9+8-tap] = v
			}
			conv := ConvFused{Conv: Conv{Groups: groups, PadLo: []int{2 - pad, 2 - pad}, PadHi: []int{2 - pad, 2 - pad}}, In: s.In}
			conv.Run(&par.Workspace{}, []*array.Array{want}, []*array.Array{x, turned, bias})
			kerneltest.RequireEqualArrays(t, want, got)
			s.Run(&par.Workspace{Threads: 3}, []*array.Array{got}, in)
			kerneltest.RequireEqualArrays(t, want, got)
			kerneltest.RequireNoAllocs(t, s, []*array.Array{got}, in)
			direct := array.New(array.F32, 3, groups*m, out, out)
			s.ConvTranspose.Run(&par.Workspace{}, []*array.Array{direct}, in)
			for i, v := range array.Data[float32](direct) {
				require.InDelta(t, v, array.Data[float32](got)[i], 1e-3)
			}
		}
	})
}
