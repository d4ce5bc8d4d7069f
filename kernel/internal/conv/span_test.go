package conv

import (
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

// Spans of positions: sums, every epilogue, scratch and threads, at every level
// that has them.
func TestConvSpans(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		if !hasConvTile(cpu.Host.Level) {
			t.Skip("this level has no assembly for spans")
		}
		rapid.Check(t, func(r *rapid.T) {
			kernel, pad := rapid.IntRange(1, 3).Draw(r, "kernel"), rapid.IntRange(0, 2).Draw(r, "pad")
			down, along := rapid.IntRange(1, 3).Draw(r, "stride of rows"), rapid.IntRange(1, 2).Draw(r, "stride in a row")
			groups, per, m := rapid.IntRange(1, 2).Draw(r, "groups"), rapid.SampledFrom([]int{2, 3, 9}).Draw(r, "per group"), rapid.IntRange(1, 15).Draw(r, "channels")
			// Just long enough for spans at every level.
			h, wd := rapid.IntRange(3, 4).Draw(r, "height"), 64*along+rapid.IntRange(2, 20).Draw(r, "width")
			s := Conv{Groups: groups, Stride: []int{down, along}, PadLo: []int{pad, pad}}
			x, w := []int{rapid.IntRange(1, 2).Draw(r, "batch"), groups * per, h, wd}, []int{groups * m, per, kernel, kernel}
			y := []int{x[0], w[0], (h+2*pad-kernel)/down + 1, (wd+2*pad-kernel)/along + 1}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			xa, wa := kerneltest.ToArray(kerneltest.RandomRef(rnd, x), array.F32, false), kerneltest.ToArray(kerneltest.RandomRef(rnd, w), array.F32, false)
			xr, wr, want, terms := kerneltest.ToRef(xa), kerneltest.ToRef(wa), kerneltest.NewRef(y...), kerneltest.NewRef(y...)
			kerneltest.ConvMeaning(kerneltest.ConvForm(s))([]kerneltest.RefArray{xr, wr, {}}, []kerneltest.RefArray{want})
			kerneltest.ConvMeaning(kerneltest.ConvForm(s))([]kerneltest.RefArray{xr.Absolute(), wr.Absolute(), {}}, []kerneltest.RefArray{terms})

			v := conv32{g: geom.NewSpatial(x[2:], y[2:], w[2:], s.Stride, s.PadLo, nil), batch: x[0], groups: groups, perGroup: per, outPerGroup: m,
				src: array.Data[float32](xa), dst: make([]float32, len(want.V))}
			k := per * v.g.Taps
			size := gemm.PackedRows(cpu.Host.Level, m, k)
			v.packed = make([]float32, groups*size)
			for g := range groups {
				gemm.PackWhole(&par.Workspace{}, cpu.Host.Level, v.packed[g*size:(g+1)*size], array.Data[float32](wa)[g*m*k:(g+1)*m*k], k, false, m, k)
			}
			more, ref := kerneltest.Extra(rnd, array.F32, rapid.SampledFrom([]int{0, 1, 4, 5}).Draw(r, "epilogue"), w[0], y)
			act := rapid.SampledFrom(kerneltest.Epilogues).Draw(r, "activation")
			v.end = gemm.Finish{Ldr: v.g.OutPlane, BiasRow: operand.Load[float32](&par.Workspace{}, more[0]), Residual: operand.Load[float32](&par.Workspace{}, more[2])}.With(act)
			for j := range want.V {
				want.V[j] = kerneltest.Finish(want.V[j], act, 1, ref[0].Or(j/v.g.OutPlane%w[0], 0), ref[2].Or(j, 0))
			}
			require.True(r, v.spans(cpu.Host.Level))
			one := &par.Workspace{}
			v.run(one)
			require.LessOrEqual(r, one.HighWater(), v.scratch(cpu.Host.Level, true))
			kerneltest.RequireSums(r, want, terms, 1, v.dst)
			again := append([]float32{}, v.dst...)
			three := &par.Workspace{Threads: 3}
			v.run(three)
			require.LessOrEqual(r, three.HighWater(), v.scratch(cpu.Host.Level, true))
			require.Equal(r, again, v.dst, "result depends on the number of threads")
		})
	})
}

// The assembly's spans are the twin's, and clamps keep NaN.
func TestConvSpanTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	for _, l := range tileLevels() {
		bl := gemm.BlockingOf(l)
		for n := range 300 {
			rows, cols, k := 1+r.IntN(bl.Mr), 1+r.IntN(3*bl.Nr), 1+r.IntN(9)
			random := func(n int) []float32 {
				s := make([]float32, n)
				for i := range s {
					s[i] = float32(r.NormFloat64())
				}
				return s
			}
			a, b, ldc, ldr := random(bl.Stride*k), random(200), cols+r.IntN(3), cols+r.IntN(3)
			offsets := make([]int64, k)
			for i := range offsets {
				offsets[i] = int64(r.IntN(200 - cols))
			}
			e := spanEpilogue{lo: -0.5, hi: float32(math.Inf(1)), ldr: 4 * ldr}
			copy(e.bias[:], random(16))
			e.bias[r.IntN(16)] = float32(math.NaN())
			var residual []float32
			if n%2 == 0 {
				residual = random(rows * ldr)
				e.residual = &residual[0]
			}
			got := random(rows * ldc)
			want := append([]float32{}, got...)
			if l == cpu.Pairs {
				panel, from, steps := pairsOfSpan(r, bl.Stride, a, b, offsets)
				convSpanGo(rows, cols, bl.Stride, panel, from, steps, want, ldc, &e, residual)
			} else {
				convSpanGo(rows, cols, bl.Stride, a, b, offsets, want, ldc, &e, residual)
			}
			convSpan32(l, rows, cols, a, b, offsets, got, ldc, &e)
			for i := range want {
				if want[i] != want[i] {
					require.True(t, got[i] != got[i], "NaN at %d", i)
					continue
				}
				require.InDelta(t, want[i], got[i], 1e-5, "%s %dx%dx%d element %d", l.String(), rows, cols, k, i)
			}
		}
	}
}

// pairsOfSpan fills the operands of a span with words, and returns those of the span of their halves, of two steps for one.
func pairsOfSpan(r *rand.Rand, stride int, a, b []float32, offsets []int64) (panel, from []float32, steps []int64) {
	halves := kerneltest.Words(r, a)
	from = kerneltest.Words(r, b)
	for p, o := range offsets {
		upper := halves[len(a)+p*stride:]
		panel = append(append(panel, upper[:stride]...), halves[p*stride:(p+1)*stride]...)
		steps = append(steps, int64(len(b))+o, o)
	}
	return panel, from, steps
}
