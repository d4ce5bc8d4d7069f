package blocked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/conv"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/pool"
)

// blockedOf returns d in blocks, by definition.
func blockedOf(d kerneltest.RefArray) kerneltest.RefArray {
	b := kerneltest.NewRef(append(append([]int{d.Shape[0], blocksOf(d.Shape[1])}, d.Shape[2:]...), BlockLanes)...)
	kerneltest.EachPos(d.Shape, func(pos []int) {
		at := append(append([]int{pos[0], pos[1] / BlockLanes}, pos[2:]...), pos[1]%BlockLanes)
		b.Set(d.Get(pos...), at...)
	})
	return b
}

func TestBlockedLayout(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, shape := range [][]int{{1, 16, 4, 4}, {2, 40, 3, 7}, {3, 5, 11}, {1, 33, 2, 3, 5}, {1, 17, 1, 1}, {0, 3, 2}, {2, 0, 3}, {1, 3, 0}, {1, 64, 56, 56}} {
			for _, strided := range []bool{false, true} {
				x := kerneltest.ToArray(kerneltest.RandomRef(r, shape), array.F32, strided)
				want := blockedOf(kerneltest.ToRef(x))
				b, back := array.New(array.F32, want.Shape...), array.New(array.F32, shape...)
				for i := range array.Data[float32](b) {
					array.Data[float32](b)[i] = 7 // what is not written shows
				}
				kerneltest.RunStep(t, ToBlocked{}, []*array.Array{b}, []*array.Array{x})
				require.Equal(t, want, kerneltest.ToRef(b))
				kerneltest.RunStep(t, FromBlocked{}, []*array.Array{back}, []*array.Array{b})
				require.Equal(t, kerneltest.ToRef(x).V, kerneltest.ToRef(back).V)
			}
		}
	})
}

type blockedShape struct {
	s       ConvBlocked
	x, w, y []int
}

// blockedCase is a convolution and its operands.
type blockedCase struct {
	blockedShape
	image, weight, sums kerneltest.RefArray // the last by definition
}

func (c *blockedCase) draw(r *rand.Rand) {
	c.image, c.weight, c.sums = kerneltest.Rounded(kerneltest.RandomRef(r, c.x)), kerneltest.Rounded(kerneltest.RandomRef(r, c.w)), kerneltest.NewRef(c.y...)
	kerneltest.ConvMeaning(kerneltest.ConvForm(c.s.Conv))([]kerneltest.RefArray{c.image, c.weight, {}}, []kerneltest.RefArray{c.sums})
}

// check compares a step with the definition.
func (c blockedCase) check(t require.TestingT, r *rand.Rand, subset int) {
	s := c.s
	s.In, s.Channels, s.Kernel, s.Epilogue = c.x[1], c.w[0], c.w[2:], kerneltest.EpilogueAt(subset)
	x, wt, want := c.image, c.weight, kerneltest.NewRef(c.y...)
	packed := array.New(array.F32, BlockedConvLen(c.w))
	PackConvBlocked{Groups: s.Groups, Planar: s.Planar}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{kerneltest.ToArray(wt, array.F32, false)})
	in := []*array.Array{kerneltest.ToArray(x, array.F32, false), packed, nil, nil, nil}
	if !s.Planar {
		in[0] = kerneltest.ToArray(blockedOf(x), array.F32, false)
	}
	var ref [3]kerneltest.RefArray
	for i, shape := range [][]int{{c.w[0]}, {c.w[0]}, c.y} {
		if subset>>i&1 == 0 {
			continue
		}
		ref[i] = kerneltest.Rounded(kerneltest.RandomRef(r, shape))
		in[2+i] = kerneltest.ToArray(ref[i], array.F32, false)
		if i == 2 {
			in[4] = kerneltest.ToArray(blockedOf(ref[i]), array.F32, false)
		}
	}
	plane := max(1, len(want.V)/max(1, c.w[0]*c.y[0]))
	for j := range want.V {
		m := j / plane % c.w[0]
		want.V[j] = kerneltest.Finish(c.sums.V[j], s.Epilogue, ref[1].Or(m, 1), ref[0].Or(m, 0), ref[2].Or(j, 0))
	}
	wantBlocks := blockedOf(want)
	out := []*array.Array{array.New(array.F32, wantBlocks.Shape...)}
	ws := &par.Workspace{}
	s.Run(ws, out, in)
	require.LessOrEqual(t, ws.HighWater(), s.ScratchBytes(out, in), "scratch")
	require.Zero(t, ws.Mark())
	got := array.New(array.F32, c.y...)
	FromBlocked{}.Run(ws, []*array.Array{got}, out)
	for i, v := range kerneltest.ToRef(got).V {
		if !(math.Abs(v-want.V[i]) <= 1e-4*max(1, math.Abs(want.V[i]))) {
			require.Failf(t, "values differ", "element %d of %v: got %v, want %v", i, c.y, v, want.V[i])
		}
	}
	again := array.New(array.F32, wantBlocks.Shape...)
	s.Run(&par.Workspace{Threads: 3}, []*array.Array{again}, in)
	require.Equal(t, out[0].Storage().Bytes(), again.Storage().Bytes(), "result depends on the number of threads")
}

func TestConvBlocked(t *testing.T) {
	two := func(a int) []int { return []int{a, a} }
	cases := []blockedShape{
		{ConvBlocked{Conv: conv.Conv{PadLo: two(1)}}, []int{2, 20, 9, 15}, []int{33, 20, 3, 3}, []int{2, 33, 9, 15}},
		{ConvBlocked{Conv: conv.Conv{PadLo: two(1)}}, []int{1, 32, 7, 7}, []int{80, 32, 3, 3}, []int{1, 80, 7, 7}},
		{ConvBlocked{}, []int{2, 40, 5, 6}, []int{30, 40, 1, 1}, []int{2, 30, 5, 6}},
		{ConvBlocked{Conv: conv.Conv{Stride: two(2)}}, []int{1, 17, 6, 7}, []int{48, 17, 1, 1}, []int{1, 48, 3, 4}},
		{ConvBlocked{Conv: conv.Conv{Groups: 2, Stride: []int{2, 3}, PadLo: []int{1, 0}}}, []int{1, 32, 9, 9}, []int{64, 16, 3, 2}, []int{1, 64, 5, 3}},
		{ConvBlocked{Conv: conv.Conv{Groups: 35, PadLo: two(2)}}, []int{2, 35, 8, 20}, []int{35, 1, 5, 5}, []int{2, 35, 8, 20}},
		{ConvBlocked{Conv: conv.Conv{Groups: 16, Stride: two(2), Dilation: two(2)}}, []int{1, 16, 9, 9}, []int{16, 1, 3, 3}, []int{1, 16, 3, 3}},
		{ConvBlocked{Conv: conv.Conv{Stride: two(2), PadLo: two(3)}, Planar: true}, []int{2, 3, 30, 31}, []int{20, 3, 7, 7}, []int{2, 20, 15, 16}},
		{ConvBlocked{Planar: true}, []int{1, 2, 4, 4}, []int{5, 2, 1, 1}, []int{1, 5, 4, 4}},
		{ConvBlocked{Conv: conv.Conv{PadLo: []int{1}}}, []int{2, 3, 6}, []int{4, 3, 3}, []int{2, 4, 6}},
		{ConvBlocked{Conv: conv.Conv{PadLo: []int{1, 0, 1}}}, []int{1, 18, 3, 4, 5}, []int{17, 18, 3, 2, 3}, []int{1, 17, 3, 3, 5}},
		{ConvBlocked{Conv: conv.Conv{PadLo: two(1)}}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 5, 5}},
		{ConvBlocked{Conv: conv.Conv{PadLo: two(1)}}, []int{1, 2, 0, 3}, []int{3, 2, 2, 3}, []int{1, 3, 1, 3}},
		{ConvBlocked{}, []int{0, 2, 3, 3}, []int{3, 2, 2, 2}, []int{0, 3, 2, 2}},
		{ConvBlocked{}, []int{1, 2, 3, 3}, []int{0, 2, 2, 2}, []int{1, 0, 2, 2}},
		{ConvBlocked{}, []int{1, 16, 1, 1}, []int{70, 16, 1, 1}, []int{1, 70, 1, 1}},
	}
	r := rand.New(rand.NewPCG(8, 9))
	drawn := make([]blockedCase, len(cases))
	for i, c := range cases {
		drawn[i].blockedShape = c
		drawn[i].draw(r)
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range drawn {
			for subset := range 8 {
				t.Run(fmt.Sprint(c.x, c.w, subset), func(t *testing.T) { c.check(t, r, subset) })
			}
		}
	})
}

// Any geometry at every level.
func TestConvBlockedGeometry(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			c := blockedCase{blockedShape: blockedShape{s: ConvBlocked{Planar: rapid.Bool().Draw(r, "planar")}}}
			per, outPer := rapid.SampledFrom([]int{1, 3, 16, 21}).Draw(r, "per group"), rapid.SampledFrom([]int{1, 5, 16, 50}).Draw(r, "out per group")
			groups := rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "groups")
			if c.s.Planar || !CanBlock(groups, per*groups, outPer*groups) {
				groups = 1
			}
			c.s.Groups = groups
			c.x = []int{rapid.IntRange(1, 2).Draw(r, "batch"), per * groups}
			c.w = []int{outPer * groups, per}
			c.y = []int{c.x[0], c.w[0]}
			for range rapid.SampledFrom([]int{1, 2, 2, 2, 3}).Draw(r, "dimensions") {
				in, k := rapid.SampledFrom([]int{1, 2, 5, 7, 15, 18}).Draw(r, "in"), rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "kernel")
				stride, dil := rapid.IntRange(1, 3).Draw(r, "stride"), rapid.IntRange(1, 2).Draw(r, "dilation")
				lo, hi := rapid.IntRange(0, 2).Draw(r, "lo"), rapid.IntRange(0, 2).Draw(r, "hi")
				if in+lo+hi < (k-1)*dil+1 {
					k = 1
				}
				c.x, c.w, c.y = append(c.x, in), append(c.w, k), append(c.y, (in+lo+hi-(k-1)*dil-1)/stride+1)
				c.s.Stride, c.s.Dilation = append(c.s.Stride, stride), append(c.s.Dilation, dil)
				c.s.PadLo, c.s.PadHi = append(c.s.PadLo, lo), append(c.s.PadHi, hi)
			}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			c.draw(rnd)
			c.check(r, rnd, rapid.IntRange(0, 7).Draw(r, "operands"))
		})
	})
}

// tileCase is a tile whose slices end where it does.
func tileCase(r *rand.Rand, floats func(n int) []float32, rows, blocks int, taps, inner [2]int) blockCall {
	c := blockCall{taps: taps, inner: inner, step: BlockLanes * (1 + r.IntN(2)), lo: -2, hi: 2}
	offsets := make([]int64, taps[0]+taps[1])
	for i := range offsets {
		offsets[i] = int64(4 * BlockLanes * r.IntN(9))
	}
	c.setOffsets(offsets)
	c.wStep = BlockLanes * (taps[0]*inner[0] + taps[1]*inner[1])
	c.yPos = BlockLanes
	if blocks > 1 || inner[0] == BlockLanes && taps[1] > 0 { // pools store densely
		c.yPos *= 1 + r.IntN(3)
	}
	c.yStep = c.yPos*rows + BlockLanes*r.IntN(3)
	c.x = floats(c.farthest + (rows-1)*c.step + BlockLanes)
	c.w = floats(blocks * max(c.wStep, BlockLanes*taps[0]))
	size := (blocks-1)*c.yStep + (rows-1)*c.yPos + BlockLanes
	c.y, c.residual = floats(size), floats(size)
	c.scale, c.bias, c.divisors = floats(blocks*BlockLanes), floats(blocks*BlockLanes), floats(rows)
	for i, p := range []*[]float32{&c.scale, &c.bias, &c.residual} {
		if r.IntN(4) == i {
			*p = nil
		}
	}
	return c
}

// tileKinds run a tile on a level; the last two are bit-identical to Go.
var tileKinds = []struct {
	name   string
	blocks int
	exact  bool
	run    func(c *blockCall, l cpu.Level, rows, blocks int)
}{
	{"conv", 3, false, func(c *blockCall, l cpu.Level, rows, blocks int) { c.conv(l, rows, blocks) }},
	{"depthwise", 1, false, func(c *blockCall, l cpu.Level, rows, _ int) { c.depthwise(l, rows) }},
	{"max", 1, true, func(c *blockCall, l cpu.Level, rows, _ int) { c.pool(l, rows, true) }},
	{"mean", 1, true, func(c *blockCall, l cpu.Level, rows, _ int) { c.pool(l, rows, false) }},
}

// Every tile of every level agrees with its twin in Go and touches nothing
// beside its operands.
func TestBlockedTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-42}
	plain := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
			if r.IntN(200) == 0 {
				s[i] = special[r.IntN(len(special))]
			}
		}
		return s
	}
	for _, l := range kerneltest.Levels() {
		most, ofThree := blockRows(l)
		for _, kind := range tileKinds {
			for blocks := 1; blocks <= kind.blocks; blocks++ {
				limit := []int{0, most, most, ofThree}[blocks]
				if ofThree == 0 && blocks > 1 {
					limit = 0
				}
				for rows := 1; rows <= limit; rows++ {
					for _, taps := range [][2]int{{1, 0}, {5, 0}, {3, 2}, {0, 4}} {
						if kind.blocks == 1 {
							taps = [2]int{taps[0] + taps[1], 0}
						}
						c := tileCase(r, plain, rows, blocks, taps, [2]int{BlockLanes, 3})
						want := c
						want.y = append([]float32{}, c.y...)
						kind.run(&c, l, rows, blocks)
						kind.run(&want, cpu.Generic, rows, blocks)
						for i, v := range want.y {
							name := fmt.Sprintf("%s %s %dx%d taps %v element %d", l.String(), kind.name, rows, blocks, taps, i)
							if kind.exact && v == v {
								require.Equal(t, math.Float32bits(v), math.Float32bits(c.y[i]), name)
							} else if v == v {
								require.InDelta(t, v, c.y[i], 1e-4, name)
							} else {
								require.True(t, c.y[i] != c.y[i], name)
							}
						}
					}
				}
			}
		}
	}
}

// Pooling in blocks is pooling; a mean adds its window in another order.
func TestPoolBlocked(t *testing.T) {
	two := func(a int) []int { return []int{a, a} }
	nan := float32(math.NaN())
	for _, c := range []struct {
		kernel, stride, pad, dilation []int
		x, y                          []int
	}{
		{two(3), two(2), two(1), nil, []int{2, 20, 9, 30}, []int{2, 20, 5, 15}},
		{two(2), nil, nil, nil, []int{1, 5, 6, 8}, []int{1, 5, 3, 4}},
		{two(3), two(2), nil, nil, []int{1, 16, 8, 8}, []int{1, 16, 4, 4}}, // past the end, as ceil_mode does
		{two(2), two(1), two(1), two(2), []int{1, 3, 5, 5}, []int{1, 3, 5, 5}},
		{two(7), nil, nil, nil, []int{1, 40, 7, 7}, []int{1, 40, 1, 1}},
		{[]int{3}, []int{1}, []int{1}, nil, []int{2, 17, 33}, []int{2, 17, 33}},
		{two(2), nil, nil, nil, []int{0, 3, 4, 4}, []int{0, 3, 2, 2}},
	} {
		kerneltest.EachLevel(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			x := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), array.F32, false)
			if x.Len() > 9 {
				array.Data[float32](x)[8] = nan
			}
			blocks := kerneltest.ToArray(blockedOf(kerneltest.ToRef(x)), array.F32, false)
			check := func(plain, blocked par.Step, tolerance float64) {
				want, got := array.New(array.F32, c.y...), array.New(array.F32, c.y...)
				plain.Run(&par.Workspace{}, []*array.Array{want}, []*array.Array{x})
				out := array.New(array.F32, blockedOf(kerneltest.NewRef(c.y...)).Shape...)
				kerneltest.RunStep(t, blocked, []*array.Array{out}, []*array.Array{blocks})
				FromBlocked{}.Run(&par.Workspace{}, []*array.Array{got}, []*array.Array{out})
				results := kerneltest.ToRef(got).V
				for i, v := range kerneltest.ToRef(want).V {
					if g := results[i]; (v == v || g == g) && !(math.Abs(v-g) <= tolerance) {
						require.Failf(t, "values differ", "%v element %d: got %v, want %v", c.x, i, g, v)
					}
				}
			}
			m := pool.MaxPool{Kernel: c.kernel, Stride: c.stride, PadLo: c.pad, Dilation: c.dilation}
			check(m, MaxPoolBlocked{m}, 0)
			if c.dilation != nil {
				return
			}
			for _, include := range []bool{false, true} {
				a := pool.AvgPool{Kernel: c.kernel, Stride: c.stride, PadLo: c.pad, CountIncludePad: include}
				check(a, AvgPoolBlocked{a}, 1e-6)
				a.DivisorOverride = 5
				check(a, AvgPoolBlocked{a}, 1e-5)
			}
		})
	}
}

func TestBlockedDoesNotAllocate(t *testing.T) {
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	kerneltest.EachLevel(t, func(t *testing.T) {
		s := ConvBlocked{Conv: conv.Conv{PadLo: []int{1, 1}}, In: 20, Channels: 20, Kernel: []int{3, 3}}
		kerneltest.RequireNoAllocs(t, s, []*array.Array{f(1, 2, 6, 6, 16)}, []*array.Array{f(1, 2, 6, 6, 16), f(BlockedConvLen([]int{20, 20, 3, 3})), f(20)})
		kerneltest.RequireNoAllocs(t, MaxPoolBlocked{pool.MaxPool{Kernel: []int{2, 2}, PadLo: []int{1, 1}}}, []*array.Array{f(1, 2, 4, 4, 16)}, []*array.Array{f(1, 2, 6, 6, 16)})
		kerneltest.RequireNoAllocs(t, AvgPoolBlocked{pool.AvgPool{Kernel: []int{2, 2}}}, []*array.Array{f(1, 2, 3, 3, 16)}, []*array.Array{f(1, 2, 6, 6, 16)})
		kerneltest.RequireNoAllocs(t, ToBlocked{}, []*array.Array{f(1, 2, 6, 6, 16)}, []*array.Array{f(1, 20, 6, 6)})
		kerneltest.RequireNoAllocs(t, FromBlocked{}, []*array.Array{f(1, 20, 6, 6)}, []*array.Array{f(1, 2, 6, 6, 16)})
	})
}

func TestConvBlockedRefuses(t *testing.T) {
	require.True(t, CanBlock(2, 32, 64))
	require.False(t, CanBlock(2, 8, 8))
	require.False(t, CanBlock(2, 2, 4))
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	s := ConvBlocked{Conv: conv.Conv{Groups: 2}, In: 8, Channels: 8, Kernel: []int{1, 1}}
	require.PanicsWithValue(t, "kernel: ConvBlocked: groups are neither whole blocks of channels nor single channels", func() {
		s.Run(&par.Workspace{}, []*array.Array{f(1, 1, 2, 2, 16)}, []*array.Array{f(1, 1, 2, 2, 16), f(64)})
	})
	// A weight that is too short is noticed before assembly reads it.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	s.Groups = 1
	require.Panics(t, func() {
		s.Run(&par.Workspace{}, []*array.Array{f(1, 1, 2, 2, 16)}, []*array.Array{f(1, 1, 2, 2, 16), f(64)})
	})
}

func BenchmarkConvBlocked(b *testing.B) {
	for _, c := range []struct{ chans, out, size, kernel, stride, groups int }{
		{3, 64, 224, 7, 2, 1}, {64, 64, 56, 1, 1, 1}, {64, 64, 56, 3, 1, 1}, {64, 256, 56, 1, 1, 1}, {256, 64, 56, 1, 1, 1},
		{128, 128, 56, 3, 2, 1}, {128, 128, 28, 3, 1, 1}, {512, 256, 28, 1, 1, 1}, {256, 256, 28, 3, 2, 1}, {256, 256, 14, 3, 1, 1},
		{1024, 256, 14, 1, 1, 1}, {512, 512, 14, 3, 2, 1}, {512, 512, 7, 3, 1, 1}, {512, 2048, 7, 1, 1, 1}, {2048, 512, 7, 1, 1, 1},
		{96, 96, 112, 3, 2, 96}, {240, 240, 28, 5, 1, 240}, {960, 960, 7, 5, 1, 960},
	} {
		pad := c.kernel / 2
		size := (c.size+2*pad-c.kernel)/c.stride + 1
		s := ConvBlocked{Conv: conv.Conv{Groups: c.groups, Stride: []int{c.stride, c.stride}, PadLo: []int{pad, pad}}, In: c.chans,
			Channels: c.out, Kernel: []int{c.kernel, c.kernel}, Planar: c.chans < BlockLanes, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
		packed := array.New(array.F32, BlockedConvLen([]int{c.out, c.chans / c.groups, c.kernel, c.kernel}))
		x := array.New(array.F32, 1, blocksOf(c.chans), c.size, c.size, BlockLanes)
		if s.Planar {
			x = array.New(array.F32, 1, c.chans, c.size, c.size)
		}
		in := []*array.Array{x, packed, array.New(array.F32, c.out)}
		out := []*array.Array{array.New(array.F32, 1, blocksOf(c.out), size, size, BlockLanes)}
		for _, threads := range []int{1, 2} {
			w := &par.Workspace{Threads: threads}
			b.Run(fmt.Sprintf("%d-%d-%dx%d-s%d-%dx%d/threads=%d", c.chans, c.out, c.kernel, c.kernel, c.stride, c.size, c.size, threads), func(b *testing.B) {
				kerneltest.BenchShare(b, gemm.PeakRun, threads, c.out*c.chans/c.groups*c.kernel*c.kernel*size*size, func() { s.Run(w, out, in) })
			})
		}
	}
}
