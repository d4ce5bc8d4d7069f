package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// wayCase is a convolution of which some ways are compared.
type wayCase struct {
	batch, chans, out, groups, size, kernel, stride, pad int
	ways                                                 int // on a processor with AVX2 or more
}

var wayCases = []wayCase{
	{1, 16, 16, 1, 7, 3, 1, 1, 4},
	{2, 20, 33, 1, 13, 3, 1, 0, 4},
	{1, 40, 34, 2, 14, 3, 1, 1, 4},
	{3, 17, 16, 1, 5, 3, 1, 2, 4},
	{1, 24, 40, 1, 28, 1, 1, 0, 2},
	{2, 30, 70, 1, 3, 1, 1, 0, 2}, // few positions
	{2, 960, 35, 1, 1, 1, 1, 0, 2},
	{1, 5, 3, 1, 20, 3, 2, 1, 2},
	{1, 300, 40, 1, 9, 1, 1, 0, 2},
	{1, 3, 20, 1, 31, 7, 2, 3, 2},
	{1, 15, 16, 1, 7, 3, 1, 1, 2}, // too few channels for transforms
	{1, 20, 20, 20, 7, 3, 1, 1, 0},
}

func (c wayCase) step() (s ConvPacked, weight []int) {
	both := func(n int) []int { return []int{n, n} }
	s = ConvPacked{Conv: Conv{Stride: both(c.stride), PadLo: both(c.pad), PadHi: both(c.pad), Groups: c.groups}, Channels: c.out, Kernel: both(c.kernel), In: both(c.size)}
	return s, []int{c.out, c.chans / c.groups, c.kernel, c.kernel}
}

func (c wayCase) shape() []int {
	n := (c.size+2*c.pad-c.kernel)/c.stride + 1
	return []int{c.batch, c.out, n, n}
}

// bound is how far a result of any way may lie from the exact one, by the comment of ConvPacked: size is the sum of the
// absolute products, largest the greatest |x|, taps the sums of the |w| of each filter.
func (c wayCase) bound(name string, size, largest, taps float64) float64 {
	unit, per := math.Ldexp(1, -23), float64(c.chans/c.groups)
	switch name {
	case "Tiles2":
		return 8 * (7 + per) * unit * largest * taps
	case "Tiles4":
		return 88 * (17 + per) * unit * largest * taps
	}
	return (per*float64(c.kernel*c.kernel) + 2 + 4) * unit * size // and a few for the epilogue
}

// Every way of every case is within its bound, the first one has the bits of the step that names no way, and
// a step that names one has what PackConv with that way packs, on any number of threads.
func TestConvWays(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for i, c := range wayCases {
			t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(i), 165))
				s, dims := c.step()
				s.Epilogue = operand.Epilogue{Act: operand.ActReLU}
				ways := s.Ways([]int{c.batch, c.chans, c.size, c.size}, dims)
				for k, v := range s.Ways([]int{c.chans, c.size, c.size}, dims) {
					require.Equal(t, float64(c.batch)*v.Cycles, ways[k].Cycles)
				}
				if want := c.ways; hasConvTile(cpu.Host.Level) || cpu.Host.Level == cpu.Generic {
					if cpu.Host.Level == cpu.Generic {
						want = 0
					}
					require.Len(t, ways, want)
				}
				random := func(shape ...int) *array.Array {
					a := array.New(array.F32, shape...)
					copy(array.Data[float32](a), kerneltest.Floats(r, a.Len(), r.NormFloat64))
					return a
				}
				x, weight := random(c.batch, c.chans, c.size, c.size), random(dims...)
				bias, residual := random(c.out), random(c.shape()...)
				run := func(s par.Step, pack par.Packer) []float32 {
					var first []float32
					for _, threads := range []int{1, 3} {
						w := &par.Workspace{Threads: threads}
						d, n := pack.Packed(weight)
						packed, out := array.New(d, n...), array.New(array.F32, c.shape()...)
						kerneltest.RunStep(t, pack, []*array.Array{packed}, []*array.Array{weight})
						s.Run(w, []*array.Array{out}, []*array.Array{x, packed, bias, nil, residual})
						kerneltest.RunStep(t, s, []*array.Array{out}, []*array.Array{x, packed, bias, nil, residual})
						if first == nil {
							first = array.Data[float32](out)
						}
						require.True(t, slices.Equal(first, array.Data[float32](out)))
					}
					return first
				}
				plain := run(s, PackConv{Conv: s.Conv, In: s.In})
				sum, size := c.exact(x, weight)
				largest := 0.0
				for _, v := range array.Data[float32](x) {
					largest = max(largest, math.Abs(float64(v)))
				}
				filter := len(array.Data[float32](weight)) / c.out
				plane := c.shape()[2] * c.shape()[3]
				for k, v := range ways {
					got := run(v.Step, v.Pack)
					if k == 0 {
						require.Equal(t, plain, got, "%s", v.Name)
						require.Equal(t, ConvBySizes, v.Step.(*ConvPacked).Way)
					} else {
						require.Equal(t, v.Name, v.Step.(*ConvPacked).Way.String())
					}
					require.Positive(t, v.Cycles)
					for j, g := range got {
						m, taps := j/plane%c.out, 0.0
						for _, f := range array.Data[float32](weight)[m*filter : (m+1)*filter] {
							taps += math.Abs(float64(f))
						}
						more := math.Abs(float64(array.Data[float32](bias)[m])) + math.Abs(float64(array.Data[float32](residual)[j]))
						want := max(0, sum[j]+float64(array.Data[float32](bias)[m])+float64(array.Data[float32](residual)[j]))
						if d := math.Abs(float64(g) - want); !(d <= c.bound(v.Name, size[j]+more, largest, taps)+1e-6*more) {
							require.Failf(t, "values differ", "%s: output %d is %v, expected %v", v.Name, j, g, want)
						}
					}
				}
			})
		}
	})
}

// exact returns the sums in float64, and those of absolute values.
func (c wayCase) exact(x, weight *array.Array) (sum, size []float64) {
	run := func(f func(float64) float64) []float64 {
		of := func(a *array.Array) *array.Array {
			b := array.New(array.F64, a.Shape()...)
			for i, v := range array.Data[float32](a) {
				array.Data[float64](b)[i] = f(float64(v))
			}
			return b
		}
		s, _ := c.step()
		out := array.New(array.F64, c.shape()...)
		s.Conv.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{of(x), of(weight)})
		return array.Data[float64](out)
	}
	return run(func(v float64) float64 { return v }), run(math.Abs)
}

// Of sums that are exact or in bf16, and of images of unknown sizes, there is one way, whatever is asked for; a way
// that sizes do not allow is that of sizes.
func TestConvWays_alone(t *testing.T) {
	s, dims := wayCases[0].step()
	exact, brain, unknown := s, s, s
	exact.Exact, brain.BF16, unknown.In = true, true, nil
	for _, s := range []ConvPacked{exact, brain, unknown} {
		require.Empty(t, s.Ways(nil, dims))
	}
	for _, way := range []ConvWay{ConvLanes, ConvRows, ConvTiles2, ConvTiles4, 200} {
		for _, s := range []ConvPacked{exact, brain} {
			p, q := s.pack(), s.pack()
			p.Way = way
			require.Equal(t, q.size(dims), p.size(dims))
			require.Equal(t, q.rows(cpu.Host.Level, s.Kernel, 16, 16), p.rows(cpu.Host.Level, s.Kernel, 16, 16))
		}
	}
	few, dims := wayCases[10].step()
	for _, way := range []ConvWay{ConvTiles2, ConvTiles4, 200} {
		p := few.pack()
		p.Way = way
		require.Equal(t, few.pack().size(dims), p.size(dims))
	}
	require.Equal(t, "Tiles4", ConvTiles4.String())
}

// A step of each way allocates nothing.
func TestConvWays_allocate(t *testing.T) {
	s, dims := wayCases[2].step()
	for _, v := range s.Ways(nil, dims) {
		d, n := v.Pack.Packed(array.New(array.F32, dims...))
		kerneltest.RequireNoAllocs(t, v.Step, []*array.Array{array.New(array.F32, wayCases[2].shape()...)},
			[]*array.Array{array.New(array.F32, 1, 40, 14, 14), array.New(d, n...)})
	}
}
