package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// winogradCase is a convolution by tiles of a given size, chosen or not.
type winogradCase struct {
	batch, groups, perGroup, outPerGroup int
	in, padLo, padHi                     [2]int
}

func (c winogradCase) form() conv32 {
	var out [2]int
	for d := range out {
		out[d] = c.in[d] + c.padLo[d] + c.padHi[d] - 2
	}
	v := conv32{batch: c.batch, groups: c.groups, perGroup: c.perGroup, outPerGroup: c.outPerGroup}
	v.g = geom.NewSpatial(c.in[:], out[:], []int{3, 3}, nil, c.padLo[:], nil)
	return v
}

// sizes returns the elements of the operands.
func (c winogradCase) sizes() (src, weight, dst int) {
	v := c.form()
	m := c.groups * c.outPerGroup
	return c.batch * c.groups * c.perGroup * v.g.InPlane, m * c.perGroup * 9, c.batch * m * v.g.OutPlane
}

// run convolves by tiles of side e.
func (c winogradCase) run(w *par.Workspace, e int, src, weight, dst []float32, end gemm.Finish) {
	v := c.form()
	v.packed = make([]float32, winograd.Len(cpu.Host.Level, e, c.groups, c.outPerGroup, c.perGroup))
	winograd.Pack(w, cpu.Host.Level, e, v.packed, weight, c.groups, c.outPerGroup, c.perGroup)
	v.src, v.dst, v.end = src, dst, end
	v.end.Ldr = v.g.OutPlane
	p := v.winograd()
	p.Run(w, e)
}

// exact returns the sums in float64 and those of absolute values.
func (c winogradCase) exact(src, weight []float32) (sum, size []float64) {
	v := c.form()
	g := &v.g
	_, _, n := c.sizes()
	sum, size = make([]float64, n), make([]float64, n)
	m := c.groups * c.outPerGroup
	for i := range n {
		pos, o := i%g.OutPlane, i/g.OutPlane
		image, group := o/m, o%m/c.outPerGroup
		_, y, x := g.Origin(pos)
		for ch := range c.perGroup {
			plane := src[((image*c.groups+group)*c.perGroup+ch)*g.InPlane:]
			filter := weight[(o%m*c.perGroup+ch)*9:]
			for k, f := range filter[:9] {
				iy, ix := y+k/3, x+k%3
				if iy >= 0 && iy < c.in[0] && ix >= 0 && ix < c.in[1] {
					p := float64(f) * float64(plane[iy*c.in[1]+ix])
					sum[i] += p
					size[i] += math.Abs(p)
				}
			}
		}
	}
	return sum, size
}

// winogradError is how far results for random numbers may lie from the exact ones,
// in units of the largest sum of absolute products.
func winogradError(e, perGroup int) float64 {
	unit := math.Ldexp(1, -23)
	if e == 2 {
		return (8 + math.Sqrt(float64(perGroup))) * unit
	}
	return (32 + 2*math.Sqrt(float64(perGroup))) * unit
}

var winogradCases = []winogradCase{
	{1, 1, 16, 16, [2]int{8, 8}, [2]int{1, 1}, [2]int{1, 1}},
	{2, 1, 3, 5, [2]int{7, 7}, [2]int{1, 1}, [2]int{1, 1}},
	{1, 2, 17, 30, [2]int{14, 13}, [2]int{1, 1}, [2]int{1, 1}},
	{3, 1, 8, 15, [2]int{28, 9}, [2]int{0, 0}, [2]int{0, 0}},
	{1, 1, 4, 3, [2]int{3, 3}, [2]int{0, 0}, [2]int{0, 0}},
	{1, 1, 4, 3, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}},
	{1, 1, 2, 2, [2]int{2, 5}, [2]int{5, 0}, [2]int{0, 6}},
	{1, 1, 300, 3, [2]int{5, 70}, [2]int{2, 1}, [2]int{0, 2}},
	{1, 1, 3, 20, [2]int{57, 140}, [2]int{1, 1}, [2]int{1, 1}},
	{5, 3, 2, 2, [2]int{6, 4}, [2]int{1, 1}, [2]int{2, 0}},
	{1, 1, 3, 2, [2]int{0, 4}, [2]int{2, 1}, [2]int{2, 1}},
	{1, 1, 1, 1, [2]int{400, 3}, [2]int{1, 1}, [2]int{1, 1}},
	{2, 1, 40, 40, [2]int{36, 64}, [2]int{1, 1}, [2]int{1, 1}},
	{5, 2, 20, 17, [2]int{7, 8}, [2]int{1, 1}, [2]int{1, 1}},
	{6, 1, 17, 40, [2]int{14, 13}, [2]int{1, 1}, [2]int{1, 1}},
	{33, 1, 4, 3, [2]int{3, 6}, [2]int{1, 1}, [2]int{2, 0}},
}

// Every shape against sums in float64, with every epilogue, and the same bits
// with any number of threads.
func TestWinograd(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		for i, c := range winogradCases {
			for _, e := range []int{2, 4} {
				t.Run(fmt.Sprint(c, e), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(i), 1))
					ns, nw, nd := c.sizes()
					m, plane := c.groups*c.outPerGroup, c.form().g.OutPlane
					src, weight := kerneltest.Floats(r, ns, r.NormFloat64), kerneltest.Floats(r, nw, r.NormFloat64)
					sum, size := c.exact(src, weight)
					for subset := range 8 {
						act := kerneltest.EpilogueAt(i + subset)
						var end gemm.Finish
						one, zero := []float32{1}, []float32{0}
						scale, bias, residual := one, zero, zero
						if subset&1 != 0 {
							end.ScaleRow = kerneltest.Floats(r, m, r.NormFloat64)
							scale = end.ScaleRow
						}
						if subset&2 != 0 {
							end.BiasRow = kerneltest.Floats(r, m, r.NormFloat64)
							bias = end.BiasRow
						}
						if subset&4 != 0 {
							end.Residual = kerneltest.Floats(r, nd, r.NormFloat64)
							residual = end.Residual
						}
						end = end.With(act)
						dst, again := make([]float32, nd), make([]float32, nd)
						c.run(&par.Workspace{}, e, src, weight, dst, end)
						v := c.form()
						c.run(soiled(3, winograd.Scratch(v.winograd(), cpu.Host.Level, e)), e, src, weight, again, end)
						require.True(t, slices.Equal(dst, again), "result depends on the number of threads, or on what was in scratch")
						largest := 0.0
						for _, v := range size {
							largest = max(largest, v)
						}
						for j, v := range dst {
							ch := j / plane % m
							k := float64(scale[ch%len(scale)])
							want := kerneltest.Finish(sum[j], act, k, float64(bias[ch%len(bias)]), float64(residual[j%len(residual)]))
							if d := math.Abs(want - float64(v)); !(d <= math.Abs(k)*winogradError(e, c.perGroup)*largest+1e-6*(1+math.Abs(want))) {
								require.Failf(t, "values differ", "output %d is %v, expected %v", j, v, want)
							}
						}
					}
				})
			}
		}
	})
}

// The step says how much scratch it takes, and takes a weight for other sizes
// than it was packed for.
func TestWinogradStep(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		s := ConvPacked{Conv: Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, Channels: 128, Kernel: []int{3, 3}, In: []int{28, 28}, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
		weight := kerneltest.ToArray(kerneltest.RandomRef(r, []int{128, 128, 3, 3}), array.F32, false)
		require.Positive(t, PackConv{Conv: s.Conv, In: s.In}.tile(128, 128, s.Kernel))
		require.Zero(t, PackConv{Conv: s.Conv}.tile(128, 128, s.Kernel), "direct sums where no size is given")
		require.Zero(t, PackConv{Conv: s.Conv, In: s.In, Exact: true}.tile(128, 128, s.Kernel), "direct sums where bits are to be those of Conv")
		packed := array.New(array.F32, PackedConvLen(s.Conv, s.In, weight.Shape()))
		kerneltest.RunStep(t, PackConv{Conv: s.Conv, In: s.In}, []*array.Array{packed}, []*array.Array{weight})
		direct := array.New(array.F32, PackedConvLen(s.Conv, nil, weight.Shape()))
		kerneltest.RunStep(t, PackConv{Conv: s.Conv}, []*array.Array{direct}, []*array.Array{weight})
		plain := s
		plain.In = nil
		for _, size := range [][]int{{1, 128, 28, 28}, {3, 128, 9, 30}, {128, 5, 5}} {
			for _, dt := range []array.DType{array.F32, array.BF16} {
				x := kerneltest.ToArray(kerneltest.RandomRef(r, size), dt, true)
				shape := append([]int{}, size...)
				out, want := array.New(dt, shape...), array.New(dt, shape...)
				kerneltest.RunStep(t, s, []*array.Array{out}, []*array.Array{x, packed})
				kerneltest.RunStep(t, plain, []*array.Array{want}, []*array.Array{x, direct})
				ref := kerneltest.ToRef(want)
				for i, v := range kerneltest.ToRef(out).V {
					if d := math.Abs(ref.V[i] - v); !(d <= 1e-3+math.Abs(ref.V[i])*kerneltest.Tolerance(dt)*2) {
						require.Failf(t, "values differ", "output %d is %v, directly %v", i, v, ref.V[i])
					}
				}
			}
		}
		x := array.New(array.F32, 1, 128, 28, 28)
		require.PanicsWithValue(t, "kernel: packed weight has "+strconv.Itoa(direct.Len())+" elements, expected "+strconv.Itoa(packed.Len())+
			", as PackConv makes with the same Conv and In", func() {
			s.Run(&par.Workspace{}, []*array.Array{array.New(array.F32, 1, 128, 28, 28)}, []*array.Array{x, direct})
		})
		kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 2, 128, 9, 9)}, []*array.Array{array.New(array.F32, 2, 128, 9, 9), packed})
	})
}

// Every tile of every image is in one block, whatever the plan, and a plan's
// scratch is within the step's estimate.
func TestWinogradPlan(t *testing.T) {
	kinds := map[string]int{}
	for _, c := range append(slices.Clone(winogradCases), winogradCase{1, 1, 64, 64, [2]int{56, 56}, [2]int{1, 1}, [2]int{1, 1}},
		winogradCase{8, 1, 512, 512, [2]int{14, 14}, [2]int{1, 1}, [2]int{1, 1}}, winogradCase{51, 1, 512, 512, [2]int{14, 14}, [2]int{1, 1}, [2]int{1, 1}},
		winogradCase{1, 1, 64, 64, [2]int{224, 224}, [2]int{1, 1}, [2]int{1, 1}}) {
		for _, l := range gemm.ScratchLevels {
			for _, e := range []int{2, 4} {
				for threads := 1; threads <= 4; threads++ {
					v := c.form()
					j := winograd.New(v.winograd(), l, e, par.Machine(threads))
					seen := make([]int, c.batch*j.Tiles)
					for i := range j.Blocks {
						b := j.Block(i)
						require.LessOrEqual(t, j.BlockPanels(b.Images)*j.T*j.T*j.Ps, j.SizeV)
						require.LessOrEqual(t, b.Images*b.Tiles(), j.BlockPanels(b.Images)*j.Bl.Nr)
						kinds[fmt.Sprint("paired ", j.BlockPanels(b.Images) < b.Images)]++
						require.Zero(t, b.Lo%j.Bl.Nr, "panels do not depend on blocks")
						for image := range b.Images {
							for tile := b.Lo; tile < b.Hi; tile++ {
								seen[(b.Image+image)*j.Tiles+tile]++
							}
						}
					}
					for _, n := range seen {
						require.Equal(t, 1, n)
					}
					total := 0
					for _, n := range j.ScratchSizes() {
						total += par.ScratchSize(n, 4)
					}
					require.LessOrEqual(t, total, winograd.Scratch(v.winograd(), l, e))
					kinds[fmt.Sprint(j.Apart, j.Blocks > 1, j.Images > 1)]++
				}
			}
		}
	}
	require.GreaterOrEqual(t, len(kinds), 6, "%v", kinds)
}
