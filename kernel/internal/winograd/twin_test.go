package winograd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// requireTwin requires that two results agree on every bit, except for the kind of NaN.
func requireTwin(t *testing.T, want, got []float32, what string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) && !(want[i] != want[i] && got[i] != got[i]) {
			require.Failf(t, "bits differ", "%s: element %d is %v, in Go %v", what, i, got[i], want[i])
		}
	}
}

// special draws numbers of every kind.
func special(r *rand.Rand) func() float64 {
	list := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e-42, 3e38}
	return func() float64 {
		if r.IntN(16) == 0 {
			return list[r.IntN(len(list))]
		}
		return r.NormFloat64()
	}
}

// Each transform in assembly and its twin agree on every bit.
func TestWinogradTwins(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		l, bl := cpu.Host.Level, gemm.BlockingOf(cpu.Host.Level)
		nr := bl.Nr
		for n := range 60 {
			e := 2 + n%2*2
			tt := e + 2
			what := fmt.Sprint("case ", n)
			tiles := operand.RoundUp(1+r.IntN(nr), nr/2)
			row, ps := r.IntN(40), nr+r.IntN(20)
			plane := 40 + nr + r.IntN(20)
			src := kerneltest.Floats(r, e*tt*plane, special(r))
			got, want := make([]float32, tt*tt*ps), make([]float32, tt*tt*ps)
			Input(l, e, tiles, got, ps, src, plane, row)
			winogradInputGo(e, tiles, want, ps, src, plane, row)
			requireTwin(t, want, got, what+" input")

			rows := 1 + r.IntN(4)
			ps = rows*nr + r.IntN(20)
			src = kerneltest.Floats(r, tt*tt*ps, special(r))
			got, want = make([]float32, rows*nr*e*e), make([]float32, rows*nr*e*e)
			Output(l, e, rows, tiles, got, src, ps)
			winogradOutputGo(e, nr, rows, tiles, want, src, ps)
			requireTwin(t, want, got, what+" output")

			chans, stride := 1+r.IntN(5), bl.Stride
			ps = chans*stride + r.IntN(20)
			src = kerneltest.Floats(r, chans*9*stride, special(r))
			got, want = make([]float32, tt*tt*ps), make([]float32, tt*tt*ps)
			filter(l, e, chans, got, ps, src)
			winogradFilterGo(e, stride, chans, want, ps, src)
			requireTwin(t, want, got, what+" filter")
		}
	})
}

// The transforms of the weight's gradient in assembly and their twins agree on every bit.
func TestGradTwins(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		l := cpu.Host.Level
		lanes := gemm.PanelLanes(l)
		for n := range 60 {
			what := fmt.Sprint("case ", n)
			tiles, col := 1+r.IntN(9), lanes+r.IntN(20)
			row, ps := 4*tiles*col+r.IntN(9), tiles*lanes+r.IntN(20)
			src := kerneltest.Floats(r, 4*row, special(r))
			want := kerneltest.Floats(r, 36*ps, r.NormFloat64)
			got := append([]float32{}, want...)
			seed(l, tiles, got, ps, src, col, row)
			winogradSeedGo(lanes, tiles, want, ps, src, col, row)
			requireTwin(t, want, got, what+" seed")

			vecs := 1 + r.IntN(5)
			ldd, ps := vecs*lanes+r.IntN(9), vecs*lanes+r.IntN(20)
			src = kerneltest.Floats(r, 36*ps, special(r))
			want = kerneltest.Floats(r, 9*ldd, r.NormFloat64)
			got = append([]float32{}, want...)
			taps(l, vecs, got, ldd, src, ps)
			winogradTapsGo(vecs*lanes, want, ldd, src, ps)
			requireTwin(t, want, got, what+" taps")
		}
	})
}

// The sorting of inputs and the storing of outputs, and their twins.
func TestWinogradLayoutTwins(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 300 {
			e := 2 + n%2*2
			what := fmt.Sprint("case ", n)
			tiles, width, pad := 1+r.IntN(40), 1+r.IntN(150), r.IntN(6)
			rows, first := 1+r.IntN(12), r.IntN(e)
			from := r.IntN(tiles)
			to := from + 1 + r.IntN(tiles-from)
			plane, lds := ((first+rows-1)/e+1)*tiles+r.IntN(5), width+r.IntN(3)
			src := kerneltest.Floats(r, (rows-1)*lds+width, special(r))
			want := kerneltest.Floats(r, e*(e+2)*plane, r.NormFloat64)
			got := append([]float32{}, want...)
			Split(cpu.Host.Level, e, rows, first, from, to, got, plane, tiles, src, lds, pad, width)
			winogradSplitGo(e, rows, first, from, to, want, plane, tiles, src, lds, pad, width)
			requireTwin(t, want, got, what+" split")

			a := winogradStore{chans: 1 + r.IntN(4), rows: 1 + r.IntN(4), cols: 1 + r.IntN(50)}
			a.dstRow, a.srcRow = a.cols+r.IntN(4), a.cols+r.IntN(4)
			a.dstChan, a.srcChan = a.rows*a.dstRow, a.rows*a.srcRow
			src = kerneltest.Floats(r, a.chans*a.srcChan, special(r))
			a.src = &src[0]
			for i, p := range []**float32{&a.scale, &a.bias, &a.residual} {
				if n>>(i+1)&1 != 0 {
					*p = &kerneltest.Floats(r, []int{a.chans, a.chans, a.chans * a.dstChan}[i], special(r))[0]
				}
			}
			a.lo, a.hi = kerneltest.EpilogueAt(n).Bounds()
			want = kerneltest.Floats(r, a.chans*a.dstChan, r.NormFloat64)
			got = append([]float32{}, want...)
			b := a
			a.dst, b.dst = &got[0], &want[0]
			a.run(cpu.Host.Level)
			winogradStoreGo(cpu.Generic, &b)
			requireTwin(t, want, got, what+" store")
		}
	})
}

// Sums of every number of columns, those of a few by themselves among them.
func TestWinogradProduct(t *testing.T) {
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		bl := gemm.BlockingOf(cpu.Host.Level)
		for n := range 400 {
			rows, cols, k := 1+r.IntN(bl.Mr), 1+r.IntN(bl.Nr), 1+r.IntN(20)
			if n%2 == 0 {
				cols = (cols-1)/(bl.Nr/2)*(bl.Nr/2) + 1 + r.IntN(4)
			}
			a, b := kerneltest.Floats(r, k*bl.Stride, r.NormFloat64), kerneltest.Floats(r, k*bl.Nr, r.NormFloat64)
			got := kerneltest.Floats(r, rows*bl.Nr, r.NormFloat64)
			was := append([]float32{}, got...)
			acc := r.IntN(2) == 0
			winogradProduct(cpu.Host.Level, rows, k, a, b, got, cols, acc, gemm.Fetch{At: &a[0]})
			for i := range rows {
				for x := range cols {
					sum, size := 0.0, 0.0
					if acc {
						sum = float64(was[i*bl.Nr+x])
						size = math.Abs(sum)
					}
					for p := range k {
						v := float64(a[p*bl.Stride+i]) * float64(b[p*bl.Nr+x])
						sum += v
						size += math.Abs(v)
					}
					require.InDelta(t, sum, got[i*bl.Nr+x], float64(k+2)*math.Ldexp(size, -23), "%dx%d, %d terms, acc %v: %d,%d", rows, cols, k, acc, i, x)
				}
			}
		}
	})
}
