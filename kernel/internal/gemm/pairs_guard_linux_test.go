package gemm

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// pairsTile is a product of words that a routine computes: c[i,j] of so many steps of a[i,p] and b[p,j], which lie where
// functions say.
type pairsTile struct {
	a, b, c          []float32
	rows, cols, k    int
	atA, atB, atC    func(i, p int) int
	acc              bool
	halvesA, halvesB []float32
}

// draw makes operands that end, or begin, at pages that fault.
func (p *pairsTile) draw(t *testing.T, r *rand.Rand, before bool, a, b, c int) {
	p.a, p.b, p.c = kerneltest.GuardedFloats(t, r, a, before), kerneltest.GuardedFloats(t, r, b, before), kerneltest.GuardedFloats(t, r, c, before)
	p.halvesA, p.halvesB = kerneltest.Words(r, p.a), kerneltest.Words(r, p.b)
}

// check runs the routine and compares its sums with exact ones of the halves; what lies between rows stays.
func (p *pairsTile) check(t *testing.T, run func(), what string) {
	t.Helper()
	was := append([]float32{}, p.c...)
	run()
	for i := range p.rows {
		for j := range p.cols {
			want, size := 0.0, 0.0
			for s := range p.k {
				for half := range 2 {
					v := float64(p.halvesA[half*len(p.a)+p.atA(i, s)]) * float64(p.halvesB[half*len(p.b)+p.atB(s, j)])
					want, size = want+v, size+math.Abs(v)
				}
			}
			at := p.atC(i, j)
			if p.acc {
				want, size = want+float64(was[at]), size+math.Abs(float64(was[at]))
			}
			require.InDelta(t, want, p.c[at], 1e-6*size, "%s: %d,%d of %dx%dx%d", what, i, j, p.rows, p.cols, p.k)
			was[at] = p.c[at]
		}
	}
	require.Equal(t, was, p.c, what)
}

// Each routine for words computes what its halves make, for all heights and rests, and reads and writes nothing outside
// of its operands.
func TestPairsTiles(t *testing.T) {
	if !cpu.HasPairs() {
		t.Skip("needs AVX-512 BF16")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	const l, lanes = cpu.Pairs, 16
	r := rand.New(rand.NewPCG(21, 22))
	for n := range 600 {
		before := n&1 != 0
		p := pairsTile{rows: 1 + n%14, cols: 1 + r.IntN(2*lanes), k: 1 + r.IntN(20), acc: n&2 != 0}
		ldc := p.cols + r.IntN(3)
		p.atC = func(i, j int) int { return i*ldc + j }
		size := (p.rows-1)*ldc + p.cols

		ldb := operand.RoundUp(p.cols, lanes) + r.IntN(3)
		p.atA, p.atB = func(i, s int) int { return s*lanes + i }, func(s, j int) int { return s*ldb + j }
		p.draw(t, r, before, lanes*p.k, (p.k-1)*ldb+operand.RoundUp(p.cols, lanes), size)
		p.check(t, func() {
			Tile32(l, p.rows, p.k, &p.a[0], &p.b[0], ldb, &p.c[0], ldc, p.cols, p.acc, Fetch{At: &p.a[0]})
		}, "tile")

		whole := p
		whole.rows, whole.cols = 13+n%2, 2*lanes
		ldb, ldc = 2*lanes+r.IntN(3), 2*lanes+r.IntN(3)
		whole.draw(t, r, before, lanes*p.k, (p.k-1)*ldb+2*lanes, (whole.rows-1)*ldc+2*lanes)
		pack := kerneltest.GuardedFloats(t, r, 2*lanes*p.k, before)
		whole.check(t, func() {
			gemmTilePack32(l, whole.rows, p.k, &whole.a[0], &whole.b[0], ldb, &whole.c[0], ldc, p.acc, Fetch{At: &whole.a[0]}, pack)
		}, "tile that packs")
		for i, v := range pack {
			require.Equal(t, math.Float32bits(whole.b[i/(2*lanes)*ldb+i%(2*lanes)]), math.Float32bits(v))
		}

		strip, lda := p, p.k+r.IntN(3)
		strip.cols = 1 + r.IntN(5*lanes)
		step := 2 * lanes
		if ldb, ldc = strip.cols+r.IntN(3), strip.cols+r.IntN(3); n&4 != 0 { // b is packed
			ldb, step = 2*lanes, 2*lanes*p.k
		}
		tail := (strip.cols - 1) / (2 * lanes)
		strip.atA, strip.atB = func(i, s int) int { return i*lda + s }, func(s, j int) int { return j/(2*lanes)*step + s*ldb + j%(2*lanes) }
		strip.draw(t, r, before, (p.rows-1)*lda+p.k, tail*step+(p.k-1)*ldb+strip.cols-tail*2*lanes, (p.rows-1)*ldc+strip.cols)
		strip.check(t, func() {
			gemmStrip32(l, p.rows, p.k, strip.a, lda, strip.b, ldb, step, strip.c, ldc, strip.cols, p.acc)
		}, "strip")

		thin := p
		thin.rows, ldc = 1+n%thinStep(l), p.cols+r.IntN(3)
		thin.atA, thin.atB = strip.atA, func(s, j int) int { return 2*lanes*s + j }
		thin.draw(t, r, before, (thin.rows-1)*lda+p.k, 2*lanes*p.k, (thin.rows-1)*ldc+p.cols)
		thin.check(t, func() { thinTile(l, thin.rows, p.k, thin.a, lda, thin.b, thin.c, ldc, p.cols, p.acc) }, "thin tile")
	}
}

// The same of products with a vector.
func TestPairsVectors(t *testing.T) {
	if !cpu.HasPairs() {
		t.Skip("needs AVX-512 BF16")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	const l, lanes = cpu.Pairs, 16
	r := rand.New(rand.NewPCG(23, 24))
	for n := range 400 {
		before, panels, k, ldx := n&1 != 0, []int{1, 2, 4}[n%3], 1+n/4, 1+r.IntN(3)
		sums := func(p *pairsTile) *[GemvPanels * 16]float32 {
			c := (*[GemvPanels * 16]float32)(kerneltest.GuardedFloats(t, r, GemvPanels*16, before))
			p.c = c[:]
			return c
		}
		p := pairsTile{rows: panels * lanes, cols: 1, k: k, acc: n&2 != 0}
		p.atA, p.atB, p.atC = func(i, s int) int { return i/lanes*lanes*k + s*lanes + i%lanes }, func(s, _ int) int { return s * ldx }, func(i, _ int) int { return i }
		p.draw(t, r, before, panels*lanes*k, (k-1)*ldx+1, 1)
		out := sums(&p)
		p.check(t, func() { gemv(l, panels, k, p.a, p.b, ldx, out, p.acc) }, "panels")

		vecs := 1 + n%2
		d := pairsTile{rows: vecs * lanes, cols: 1, k: k, atA: func(i, s int) int { return s*vecs*lanes + i }, atB: p.atB, atC: p.atC}
		d.draw(t, r, before, vecs*lanes*k, (k-1)*ldx+1, 1)
		out = sums(&d)
		d.check(t, func() { GemvDense(l, vecs, k, d.a, d.b, ldx, out) }, "dense panel")
	}
}
