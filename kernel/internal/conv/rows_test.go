package conv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// rowsCase is a convolution whose weight is packed for tiles of positions and channels.
type rowsCase struct {
	s       Conv
	x, w, y []int
}

func drawRowsCase(r *rapid.T) rowsCase {
	c := rowsCase{s: Conv{Groups: rapid.SampledFrom([]int{1, 1, 2}).Draw(r, "groups")}}
	per, m := rapid.SampledFrom([]int{1, 2, 3, 3, 300}).Draw(r, "per group"), rapid.SampledFrom([]int{1, 7, 8, 16, 17, 33, 70}).Draw(r, "channels")
	if per > 3 {
		m = min(m, 17)
	}
	if per == 1 {
		c.s.Groups = 1 // else it is depthwise
	}
	c.x, c.w = []int{rapid.IntRange(1, 2).Draw(r, "batch"), per * c.s.Groups}, []int{m * c.s.Groups, per}
	c.y = []int{c.x[0], c.w[0]}
	for d := range 2 {
		k := rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "kernel")
		stride, dil := rapid.IntRange(1, 3).Draw(r, "stride"), rapid.IntRange(1, 2).Draw(r, "dilation")
		lo, hi := rapid.IntRange(0, 2).Draw(r, "lo"), rapid.IntRange(0, 2).Draw(r, "hi")
		out := rapid.SampledFrom([]int{1, 2, 3, 6, 7, 7, 14, 15, 29}).Draw(r, "out")
		if d == 0 || per > 3 {
			out = min(out, 7)
		}
		in := (out-1)*stride + (k-1)*dil + 1 - lo - hi + rapid.IntRange(0, stride-1).Draw(r, "unread")
		if in < 1 {
			hi -= 1 - in
			in = 1
		}
		c.x, c.w, c.y = append(c.x, in), append(c.w, k), append(c.y, out)
		c.s.Stride, c.s.Dilation = append(c.s.Stride, stride), append(c.s.Dilation, dil)
		c.s.PadLo, c.s.PadHi = append(c.s.PadLo, lo), append(c.s.PadHi, hi)
	}
	return c
}

// conv returns the convolution with the weight packed for tiles of positions
// and channels, whatever would be faster.
func (c *rowsCase) conv(src, weight []float32) conv32 {
	v := conv32{g: geom.NewSpatial(c.x[2:], c.y[2:], c.w[2:], c.s.Stride, c.s.PadLo, c.s.Dilation), batch: c.x[0], groups: c.s.Groups,
		perGroup: c.w[1], outPerGroup: c.w[0] / c.s.Groups, src: src, dst: make([]float32, c.y[0]*c.y[1]*c.y[2]*c.y[3]), rows: true}
	m, k := v.outPerGroup, v.perGroup*v.g.Taps
	size := gemm.PackedRowsLen(cpu.Host.Level, m, k)
	v.packed = make([]float32, v.groups*size)
	for g := range v.groups {
		packRowsWeight(&par.Workspace{Threads: 2}, cpu.Host.Level, v.packed[g*size:(g+1)*size], weight[g*m*k:(g+1)*m*k], m, k)
	}
	return v
}

// Any geometry in tiles of positions and channels, at every level that has them:
// sums, every epilogue, scratch, threads, and the way back to the weight.
func TestConvRows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		if !hasConvTile(cpu.Host.Level) {
			t.Skip("this level has no assembly for such tiles")
		}
		rapid.Check(t, func(r *rapid.T) {
			c := drawRowsCase(r)
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			x, wt := kerneltest.RandomRef(rnd, c.x), kerneltest.RandomRef(rnd, c.w)
			xs, ws := array.Data[float32](kerneltest.ToArray(x, array.F32, false)), array.Data[float32](kerneltest.ToArray(wt, array.F32, false))
			v := c.conv(xs, ws)
			require.Equal(r, ws, v.unpacked(&par.Workspace{}))
			want := kerneltest.NewRef(c.y...)
			x, wt = kerneltest.ToRef(kerneltest.ToArray(x, array.F32, false)), kerneltest.ToRef(kerneltest.ToArray(wt, array.F32, false))
			kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))([]kerneltest.RefArray{x, wt, {}}, []kerneltest.RefArray{want})
			subset, act := rapid.IntRange(0, 7).Draw(r, "epilogue"), rapid.SampledFrom(kerneltest.Epilogues).Draw(r, "activation")
			size := kerneltest.NewRef(c.y...)
			kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))([]kerneltest.RefArray{x.Absolute(), wt.Absolute(), {}}, []kerneltest.RefArray{size})
			more, ref := kerneltest.Extra(rnd, array.F32, subset, c.w[0], c.y)
			v.end = gemm.Finish{Ldr: v.g.OutPlane}
			for i, p := range []*[]float32{&v.end.BiasRow, &v.end.ScaleRow, &v.end.Residual} {
				*p = operand.Load[float32](&par.Workspace{}, more[i])
			}
			v.end = v.end.With(act)
			for j := range want.V {
				ch := j / v.g.OutPlane % c.w[0]
				want.V[j] = kerneltest.Finish(want.V[j], act, ref[1].Or(ch, 1), ref[0].Or(ch, 0), ref[2].Or(j, 0))
			}
			one := &par.Workspace{}
			v.run(one)
			if v.groups == 1 {
				require.Equal(r, v.scratch(cpu.Host.Level, true), one.HighWater())
			}
			kerneltest.RequireSums(r, want, size, 4, v.dst)
			again := append([]float32{}, v.dst...)
			three := &par.Workspace{Threads: 3}
			v.run(three)
			require.GreaterOrEqual(r, v.scratch(cpu.Host.Level, true), max(one.HighWater(), three.HighWater()))
			require.Equal(r, again, v.dst, "result depends on the number of threads")
		})
	})
}

// tileLevels are the levels that have such tiles, with that of words of two bf16, which twins multiply half by half.
func tileLevels() (list []cpu.Level) {
	for _, l := range kerneltest.Levels() {
		if hasConvTile(l) {
			list = append(list, l)
		}
	}
	if cpu.HasPairs() {
		list = append(list, cpu.Pairs)
	}
	return list
}

// The assembly's tiles are the twin's, and so is the way that they are stored,
// NaN, infinities and negative zero included, to the bit where nothing is summed.
func TestConvTileTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-42, 6, -6}
	random := func(n int, odd bool) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
			if odd && r.IntN(8) == 0 {
				s[i] = special[r.IntN(len(special))]
			}
		}
		return s
	}
	for _, l := range tileLevels() {
		lanes, mr := gemm.PanelLanes(l), gemm.BlockingOf(l).Mr
		for n := range 300 {
			rows, vecs, k, jump := 1+r.IntN(mr), 1+r.IntN(2), 1+r.IntN(9), r.IntN(20)
			src, b := random(100, false), random(vecs*lanes*k, false)
			offsets := make([]int64, k)
			for i := range offsets {
				offsets[i] = int64(r.IntN(60))
			}
			got := random(2*lanes*rows, false)
			want := append([]float32{}, got...)
			if l == cpu.Pairs {
				of, by := kerneltest.Words(r, src), kerneltest.Words(r, b)
				convTileGo(lanes, rows, vecs, of[len(src):], offsets, jump, by[len(b):], want, n%2 == 0)
				convTileGo(lanes, rows, vecs, of[:len(src)], offsets, jump, by[:len(b)], want, true)
			} else {
				convTileGo(lanes, rows, vecs, src, offsets, jump, b, want, n%2 == 0)
			}
			convTile32(l, rows, vecs, src, offsets, jump, b, b, got, n%2 == 0)
			require.InDeltaSlice(t, want, got, 1e-5)

			cols, ldc, ldr := 1+r.IntN(2*lanes), rows+r.IntN(3), rows+r.IntN(3)
			e := gemm.Finish{Ldr: ldr}
			for i, p := range []*[]float32{&e.ScaleRow, &e.BiasRow, &e.Residual} {
				if n>>i&1 != 0 {
					*p = random([]int{cols, cols, cols * ldr}[i], true)
				}
			}
			e = e.With(kerneltest.EpilogueAt(n))
			te := gemm.TileEpilogue{Lo: e.Lo, Hi: e.Hi, Ldr: ldr, ScaleRow: operand.Span(e.ScaleRow, 0, cols), BiasRow: operand.Span(e.BiasRow, 0, cols), Residual: operand.Span(e.Residual, 0, cols)}
			tile, out := random(2*lanes*rows, true), random(cols*ldc, false)
			same := append([]float32{}, out...)
			convStoreGo(lanes, rows, cols, tile, same, ldc, &te)
			convStore32(l, rows, cols, tile, out, ldc, &te)
			for i := range out {
				if out[i] != out[i] && same[i] != same[i] {
					continue
				}
				require.Equal(t, math.Float32bits(same[i]), math.Float32bits(out[i]), "%s %dx%d operands %b element %d", l.String(), rows, cols, n&7, i)
			}
		}
	}
}

// Every other element, of rows of any length.
func TestSampleEven(t *testing.T) {
	for _, l := range kerneltest.Levels()[1:] {
		for cols := 1; cols < 70; cols++ {
			ldd, lds := cols+3, 2*cols+1
			src, dst, want := make([]float32, 2*lds+2*cols-1), make([]float32, 3*ldd), make([]float32, 3*ldd)
			for i := range src {
				src[i] = float32(i + 1)
			}
			for y := range 3 {
				for x := range cols {
					want[y*ldd+x] = src[y*lds+2*x]
				}
			}
			gemm.SampleRows(l, dst, ldd, src, lds, cols, 3, 2)
			require.Equal(t, want, dst)
		}
	}
}

// The choice: small maps have positions for rows, large ones do not, and a
// weight packed for one size convolves others.
func TestConvRowsChoice(t *testing.T) {
	for _, l := range kerneltest.Levels() {
		if l != cpu.AVX512 {
			continue
		}
		same := Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}, Stride: []int{2, 2}}
		require.True(t, rowsForm(l, Conv{}, []int{7, 7}, []int{1, 1}, 512, 2048))
		require.True(t, rowsForm(l, Conv{}, []int{14, 14}, []int{1, 1}, 256, 1024))
		require.True(t, rowsForm(l, same, []int{14, 14}, []int{3, 3}, 512, 512))
		require.True(t, rowsForm(l, same, []int{14, 14}, []int{3, 3}, 32, 12))
		require.False(t, rowsForm(l, Conv{}, []int{56, 56}, []int{1, 1}, 24, 64))
		require.False(t, rowsForm(l, Conv{}, nil, []int{1, 1}, 512, 2048))
		require.False(t, rowsForm(l, Conv{}, []int{7}, []int{1, 1}, 512, 2048))
		require.False(t, rowsForm(l, Conv{}, []int{2, 2}, []int{3, 3}, 512, 2048))
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		s := Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}, Stride: []int{2, 2}}
		wt := kerneltest.ToArray(kerneltest.RandomRef(r, []int{32, 12, 3, 3}), array.F32, false)
		in := []int{14, 14}
		packed := array.New(array.F32, PackedConvLen(s, in, wt.Shape()))
		kerneltest.RunStep(t, PackConv{Conv: s, In: in}, []*array.Array{packed}, []*array.Array{wt})
		step := ConvPacked{Conv: s, Channels: 32, Kernel: []int{3, 3}, In: in}
		for _, size := range []int{14, 13, 1, 20} {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				x := kerneltest.ToArray(kerneltest.RandomRef(r, []int{2, 12, size, size}), array.F32, false)
				half := (size + 1) / 2
				out, want, terms := array.New(array.F32, 2, 32, half, half), kerneltest.NewRef(2, 32, half, half), kerneltest.NewRef(2, 32, half, half)
				kerneltest.RunStep(t, step, []*array.Array{out}, []*array.Array{x, packed, nil})
				kerneltest.ConvMeaning(kerneltest.ConvForm(s))([]kerneltest.RefArray{kerneltest.ToRef(x), kerneltest.ToRef(wt), {}}, []kerneltest.RefArray{want})
				kerneltest.ConvMeaning(kerneltest.ConvForm(s))([]kerneltest.RefArray{kerneltest.ToRef(x).Absolute(), kerneltest.ToRef(wt).Absolute(), {}}, []kerneltest.RefArray{terms})
				kerneltest.RequireSums(t, want, terms, 1, array.Data[float32](out))
			})
		}
		kerneltest.RequireNoAllocs(t, step, []*array.Array{array.New(array.F32, 1, 32, 7, 7)}, []*array.Array{array.New(array.F32, 1, 12, 14, 14), packed, nil})
	})
}
