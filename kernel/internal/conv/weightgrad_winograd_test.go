package conv

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// tiledCase is a gradient of 3x3 filters of stride 1, as it goes by transforms.
type tiledCase struct {
	batch, groups, per, outPer int
	in, out, pad               [2]int
}

func (c tiledCase) step() ConvWeightGrad {
	return ConvWeightGrad{Groups: c.groups, PadLo: c.pad[:], Winograd: true}
}

// operands draws x and the gradient, and returns them with a weight that is full of NaN.
func (c tiledCase) operands(r *rand.Rand, x, y func() float64) (in []*array.Array, out *array.Array) {
	in = []*array.Array{array.New(array.F32, c.batch, c.groups*c.per, c.in[0], c.in[1]), array.New(array.F32, c.batch, c.groups*c.outPer, c.out[0], c.out[1])}
	copy(array.Data[float32](in[0]), kerneltest.Floats(r, in[0].Len(), x))
	copy(array.Data[float32](in[1]), kerneltest.Floats(r, in[1].Len(), y))
	out = array.New(array.F32, c.groups*c.outPer, c.per, 3, 3)
	for i := range array.Data[float32](out) {
		array.Data[float32](out)[i] = float32(math.NaN())
	}
	return in, out
}

// tiles computes the gradient by transforms, whether they pay or not.
func (c tiledCase) tiles(w *par.Workspace, out *array.Array, in []*array.Array) {
	v := c.step().form(out, in[0], in[1])
	v.dst, v.src, v.grad = array.Data[float32](out), array.Data[float32](in[0]), array.Data[float32](in[1])
	t := v.winograd()
	t.Run(w)
}

// exact computes it in float64, by the sums in Go.
func (c tiledCase) exact(in []*array.Array) []float64 {
	want := array.New(array.F64, c.groups*c.outPer, c.per, 3, 3)
	c.step().Run(&par.Workspace{}, []*array.Array{want}, []*array.Array{array.Cast(in[0], array.F64), array.Cast(in[1], array.F64)})
	return array.Data[float64](want)
}

// count is the tiles that are added up.
func (c tiledCase) count() int { return c.batch * ((c.out[0] + 3) / 4) * ((c.out[1] + 3) / 4) }

// sizes returns, for each pair of a filter and a channel, the sum over tiles of the largest
// magnitude of the patch times the sum of the tile's.
func (c tiledCase) sizes(in []*array.Array) []float64 {
	x, y := array.Data[float32](in[0]), array.Data[float32](in[1])
	at := func(data []float32, plane, height, width, row, col int) float64 {
		if uint(row) >= uint(height) || uint(col) >= uint(width) {
			return 0
		}
		return math.Abs(float64(data[(plane*height+row)*width+col]))
	}
	var list []float64
	for m := range c.groups * c.outPer {
		for ch := range c.per {
			size := 0.0
			for n := range c.batch {
				for ty := 0; ty < c.out[0]; ty += 4 {
					for tx := 0; tx < c.out[1]; tx += 4 {
						most, sum := 0.0, 0.0
						for i := range 36 {
							most = max(most, at(x, (n*c.groups+m/c.outPer)*c.per+ch, c.in[0], c.in[1], ty+i/6-c.pad[0], tx+i%6-c.pad[1]))
						}
						for i := range 16 {
							sum += at(y, n*c.groups*c.outPer+m, c.out[0], c.out[1], ty+i/4, tx+i%4)
						}
						size += most * sum
					}
				}
			}
			list = append(list, size)
		}
	}
	return list
}

// The errors that ConvWeightGrad states, for numbers of like sizes and for any.
func tiledBound(tiles int) float64 { return math.Ldexp(8+float64(tiles)/16, -23) }
func tiledWorst(tiles int) float64 { return math.Ldexp(120*(24+float64(tiles)), -23) }

// soiled returns a workspace of so many threads whose scratch is full of NaN.
func soiled(threads, bytes int) *par.Workspace {
	w := &par.Workspace{Threads: threads}
	mark := w.Mark()
	s := par.Scratch[float32](w, bytes/4)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	w.Release(mark)
	return w
}

// Any geometry at every level is within the bound of what the sums in Go give in float64;
// scratch is what GradScratch says, and no number of threads changes a bit.
func TestWeightGradTiles(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			pick := func(name string, n ...int) int { return rapid.SampledFrom(n).Draw(r, name) }
			c := tiledCase{pick("batch", 1, 2, 5), pick("groups", 1, 1, 2), pick("per group", 1, 3, 16, 17, 40), pick("out per group", 1, 5, 15, 33, 130),
				[2]int{pick("height", 1, 4, 9), pick("width", 1, 5, 18)}, [2]int{pick("rows", 1, 4, 9, 17), pick("columns", 1, 3, 8, 21)}, [2]int{pick("above", 0, 1, 2), pick("left", 0, 1, 30)}}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			in, out := c.operands(rnd, rnd.NormFloat64, rnd.NormFloat64)
			w := &par.Workspace{}
			c.tiles(w, out, in)
			v := c.step().form(out, in[0], in[1])
			require.GreaterOrEqual(r, winograd.GradScratch(v.winograd(), cpu.Host.Level), w.HighWater(), "scratch")
			sizes := c.sizes(in)
			for i, want := range c.exact(in) {
				require.InDelta(r, want, array.Data[float32](out)[i], tiledWorst(c.count())*sizes[i/9], "element %d", i)
			}
			_, again := c.operands(rnd, rnd.NormFloat64, rnd.NormFloat64)
			c.tiles(soiled(3, winograd.GradScratch(v.winograd(), cpu.Host.Level)), again, in)
			require.Equal(r, out.Storage().Bytes(), again.Storage().Bytes(), "the result depends on the number of threads, or on what was in scratch")
		})
	})
}

// Sums that are cut into blocks, where there are many tiles.
func TestWeightGradBlocks(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, c := range []tiledCase{
			{2, 1, 33, 30, [2]int{70, 70}, [2]int{70, 70}, [2]int{1, 1}},
			{40, 2, 20, 17, [2]int{13, 11}, [2]int{11, 9}, [2]int{0, 0}},
			{1, 1, 16, 16, [2]int{5, 3000}, [2]int{5, 3000}, [2]int{1, 1}},
		} {
			in, out := c.operands(r, r.NormFloat64, r.NormFloat64)
			c.tiles(&par.Workspace{}, out, in)
			sizes := c.sizes(in)
			for i, want := range c.exact(in) {
				require.InDelta(t, want, array.Data[float32](out)[i], tiledBound(c.count())*sizes[i/9], "%+v: element %d", c, i)
			}
			_, again := c.operands(r, r.NormFloat64, r.NormFloat64)
			c.tiles(&par.Workspace{Threads: 2}, again, in)
			require.Equal(t, out.Storage().Bytes(), again.Storage().Bytes(), "the result depends on the number of threads")
		}
	})
}

// The error is within the bounds that ConvWeightGrad states, for numbers of all signs and sizes.
func TestWeightGradError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alternate := func() func() float64 {
		sign := -1.0
		return func() float64 {
			sign = -sign
			return sign * (1 + r.Float64()/64)
		}
	}
	wide := func() float64 { return math.Exp(8*r.NormFloat64()) * (r.Float64() - 0.5) }
	numbers := map[string][2]func() float64{
		"normal":      {r.NormFloat64, r.NormFloat64},
		"positive":    {r.Float64, r.Float64},
		"rectified":   {func() float64 { return max(0, r.NormFloat64()) }, r.NormFloat64},
		"spikes":      {func() float64 { return r.NormFloat64() * math.Pow(10, float64(2*r.IntN(3)-2)) }, r.NormFloat64},
		"wide":        {wide, wide},
		"alternating": {alternate(), alternate()},
		"constant":    {func() float64 { return 1.0 / 3 }, func() float64 { return 0.7 }},
	}
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		for _, batch := range []int{1, 8, 64} {
			worst := map[string]float64{}
			for _, name := range slices.Sorted(maps.Keys(numbers)) {
				bound := tiledBound
				if name == "wide" || name == "spikes" {
					bound = tiledWorst
				}
				c := tiledCase{batch, 1, 5, 4, [2]int{15, 15}, [2]int{14, 15}, [2]int{1, 1}}
				in, out := c.operands(r, numbers[name][0], numbers[name][1])
				c.tiles(&par.Workspace{}, out, in)
				sizes := c.sizes(in)
				for i, want := range c.exact(in) {
					d := math.Abs(float64(array.Data[float32](out)[i]) - want)
					worst[name] = max(worst[name], d/sizes[i/9]/bound(c.count()))
					require.LessOrEqual(t, d, bound(c.count())*sizes[i/9], "%s, %d tiles: element %d", name, c.count(), i)
				}
			}
			t.Logf("batch %d: parts of the bounds: %v", batch, worst)
		}
	})
}

// An infinity or NaN reaches the filters of its own channel, or the channels of its own
// filter, and all taps of those.
func TestWeightGradSpecial(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 5))
		c := tiledCase{2, 2, 19, 21, [2]int{10, 10}, [2]int{10, 10}, [2]int{1, 1}}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for side := range 2 {
				in, out := c.operands(r, r.NormFloat64, r.NormFloat64)
				const group, chan0 = 1, 7
				per := []int{c.per, c.outPer}[side]
				array.Data[float32](in[side])[(1*c.groups*per+group*per+chan0)*100+5*10+6] = float32(v)
				c.tiles(&par.Workspace{}, out, in)
				for i, w := range array.Data[float32](out) {
					m, ch := i/9/c.per, i/9%c.per
					hit := m/c.outPer == group && (side == 0 && ch == chan0 || side == 1 && m%c.outPer == chan0)
					require.Equal(t, hit, w-w != 0, "%v in operand %d: filter %d, channel %d, tap %d is %v", v, side, m, ch, i%9, w)
				}
			}
		}
	})
}

// The step goes by transforms where it is allowed to and they pay, with the bits of the transforms;
// else with those of direct sums.
func TestWeightGradChoice(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		c := tiledCase{2, 2, 24, 24, [2]int{20, 20}, [2]int{20, 20}, [2]int{1, 1}}
		in, want := c.operands(r, r.NormFloat64, r.NormFloat64)
		_, direct := c.operands(r, r.NormFloat64, r.NormFloat64)
		s := c.step()
		s.Winograd = false
		s.Run(&par.Workspace{}, []*array.Array{direct}, in)
		if cpu.Host.Level == cpu.Generic {
			want = direct
		} else {
			c.tiles(&par.Workspace{}, want, in)
			require.NotEqual(t, want.Storage().Bytes(), direct.Storage().Bytes())
		}
		_, got := c.operands(r, r.NormFloat64, r.NormFloat64)
		s.Winograd = true
		w := &par.Workspace{}
		s.Run(w, []*array.Array{got}, in)
		require.Equal(t, want.Storage().Bytes(), got.Storage().Bytes())
		require.GreaterOrEqual(t, s.ScratchBytes([]*array.Array{got}, in), w.HighWater())

		half := []*array.Array{array.Cast(in[0], array.F16), array.Cast(in[1], array.F16)}
		back := []*array.Array{array.Cast(half[0], array.F32), array.Cast(half[1], array.F32)}
		s.Run(&par.Workspace{}, []*array.Array{want}, back)
		narrow := array.New(array.F16, got.Shape()...)
		w = &par.Workspace{}
		s.Run(w, []*array.Array{narrow}, half)
		require.Equal(t, array.Cast(want, array.F16).Storage().Bytes(), narrow.Storage().Bytes())
		require.GreaterOrEqual(t, s.ScratchBytes([]*array.Array{narrow}, half), w.HighWater())
	})
}

// Where transforms pay: not for other filters, few channels, or few tiles of many channels.
func TestWeightGradPays(t *testing.T) {
	for _, c := range []struct {
		batch, chans, out, size, kernel, stride, dilation int
		pays                                              bool
	}{
		{8, 64, 64, 56, 3, 1, 1, true}, {8, 128, 128, 28, 3, 1, 1, true}, {8, 256, 256, 14, 3, 1, 1, true}, {8, 512, 512, 7, 3, 1, 1, true},
		{1, 128, 128, 28, 3, 1, 1, true}, {8, 512, 512, 2, 3, 1, 1, false}, {8, 3, 64, 56, 3, 1, 1, false}, {8, 64, 64, 56, 5, 1, 1, false},
		{8, 64, 64, 56, 3, 2, 1, false}, {8, 64, 64, 56, 3, 1, 2, false}, {0, 64, 64, 56, 3, 1, 1, false},
	} {
		s := ConvWeightGrad{Stride: []int{c.stride, c.stride}, PadLo: []int{1, 1}, Dilation: []int{c.dilation, c.dilation}, Winograd: true}
		x, y := array.New(array.F32, c.batch, c.chans, c.size, c.size), array.New(array.F32, c.batch, c.out, c.size/c.stride, c.size/c.stride)
		v := s.form(array.New(array.F32, c.out, c.chans, c.kernel, c.kernel), x, y)
		for _, l := range []cpu.Level{cpu.AVX2, cpu.AVX512} {
			require.Equal(t, c.pays, winograd.GradPays(l, v.winograd()), fmt.Sprintf("%+v on %s", c, l))
		}
		require.False(t, winograd.GradPays(cpu.Generic, v.winograd()))
	}
}
