package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
)

// Spans of positions: sums, every epilogue, scratch and threads, at every level
// that has them.
func TestConvSpans(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if !hasConvTile(cpu.level) {
			t.Skip("no code for spans")
		}
		rapid.Check(t, func(r *rapid.T) {
			kernel, stride, pad := rapid.IntRange(1, 3).Draw(r, "kernel"), rapid.IntRange(1, 2).Draw(r, "stride"), rapid.IntRange(0, 2).Draw(r, "pad")
			groups, per, m := rapid.IntRange(1, 2).Draw(r, "groups"), rapid.SampledFrom([]int{2, 3, 9}).Draw(r, "per group"), rapid.IntRange(1, 15).Draw(r, "channels")
			// Just long enough for spans at every level.
			h, wd := rapid.IntRange(3, 4).Draw(r, "height"), 64*stride+rapid.IntRange(2, 20).Draw(r, "width")
			s := Conv{Groups: groups, Stride: []int{stride, stride}, PadLo: []int{pad, pad}}
			x, w := []int{rapid.IntRange(1, 2).Draw(r, "batch"), groups * per, h, wd}, []int{groups * m, per, kernel, kernel}
			y := []int{x[0], w[0], (h+2*pad-kernel)/stride + 1, (wd+2*pad-kernel)/stride + 1}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			xa, wa := toArray(randomRef(rnd, x), array.F32, false), toArray(randomRef(rnd, w), array.F32, false)
			xr, wr, want, terms := toRef(xa), toRef(wa), newRef(y...), newRef(y...)
			convMeaning(convForm(s))([]refArray{xr, wr, {}}, []refArray{want})
			convMeaning(convForm(s))([]refArray{xr.absolute(), wr.absolute(), {}}, []refArray{terms})

			v := conv32{g: newSpatial(x[2:], y[2:], w[2:], s.Stride, s.PadLo, nil), batch: x[0], groups: groups, perGroup: per, outPerGroup: m,
				src: array.Data[float32](xa), dst: make([]float32, len(want.v))}
			k := per * v.g.taps
			size := packedRows(cpu.level, m, k)
			v.packed = make([]float32, groups*size)
			for g := range groups {
				packWhole(&Workspace{}, cpu.level, v.packed[g*size:(g+1)*size], array.Data[float32](wa)[g*m*k:(g+1)*m*k], k, false, m, k)
			}
			more, ref := extra(rnd, array.F32, rapid.SampledFrom([]int{0, 1, 4, 5}).Draw(r, "epilogue"), w[0], y)
			act := epilogues[rapid.IntRange(0, 3).Draw(r, "activation")]
			v.end = epilogue{ldr: v.g.outPlane, biasRow: load[float32](&Workspace{}, more[0]), residual: load[float32](&Workspace{}, more[2])}.with(act)
			for j := range want.v {
				want.v[j] = finish(want.v[j], act, 1, ref[0].or(j/v.g.outPlane%w[0], 0), ref[2].or(j, 0))
			}
			require.True(r, v.spans(cpu.level))
			one := &Workspace{}
			v.run(one)
			require.LessOrEqual(r, one.HighWater(), v.scratch(cpu.level, true))
			requireSums(r, want, terms, 1, v.dst)
			again := append([]float32{}, v.dst...)
			v.run(&Workspace{Threads: 3})
			require.Equal(r, again, v.dst, "result depends on the number of threads")
		})
	})
}

// The assembly's spans are the twin's, and clamps keep NaN.
func TestConvSpanTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	for _, l := range levels() {
		if !hasConvTile(l) {
			continue
		}
		bl := blockingOf(l)
		for n := range 300 {
			rows, cols, k := 1+r.IntN(bl.mr), 1+r.IntN(3*bl.nr), 1+r.IntN(9)
			random := func(n int) []float32 {
				s := make([]float32, n)
				for i := range s {
					s[i] = float32(r.NormFloat64())
				}
				return s
			}
			a, b, ldc, ldr := random(bl.stride*k), random(200), cols+r.IntN(3), cols+r.IntN(3)
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
			convSpanGo(rows, cols, bl.stride, a, b, offsets, want, ldc, &e, residual)
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
