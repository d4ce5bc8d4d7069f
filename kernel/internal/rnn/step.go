package rnn

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// recurrence adds the products of a state with its weight, which every step
// repeats: the weight is read in the cheapest way for the number of rows.
type recurrence[T operand.Real] struct {
	rows, n, k int // products are [rows, n], sums of k terms
	trans      bool
	weight     []T
	packed     []float32 // the weight for several rows
	dots       *stepDots // the products for one, by rows of the weight
	back       bool      // the next step reads the weight from its end, on one thread
	level      cpu.Level
	quantised  bool
	bytes      quant.Dynamic // the products of quantised weights
}

// newRecurrence prepares products of rows states of k with a weight [k, n], with trans
// [n, k].
func newRecurrence[T operand.Real](w *par.Workspace, rows, n, k int, weight []T, trans bool) (r recurrence[T]) {
	r = recurrence[T]{rows: rows, n: n, k: k, trans: trans, weight: weight, level: cpu.Host.Level}
	if !operand.IsFloat32[T]() || !cpu.Assembly() || rows*n*k == 0 {
		return r
	}
	switch {
	case packs(r.level, rows):
		r.packed = par.Scratch[float32](w, gemm.PackedLen(k, n))
		gemm.PackRight(w, r.packed, trans, k, n, operand.AsFloat32(weight), r.ldw())
	case trans && gemm.HasThin(r.level):
		r.dots = par.TakeJob[stepDots](w)
	}
	return r
}

// ldw is how far rows of the weight are apart.
func (r *recurrence[T]) ldw() int {
	if r.trans {
		return r.k
	}
	return r.n
}

// add adds the product of h to the rows of c, ldc apart.
func (r *recurrence[T]) add(w *par.Workspace, h, c []T, ldc int) {
	switch {
	case r.quantised:
		r.bytes.Add(w, r.rows, operand.AsFloat32(h), operand.AsFloat32(c), ldc)
	case r.dots != nil:
		*r.dots = stepDots{level: r.level, gates: r.n, k: r.k, h: operand.AsFloat32(h),
			weight: operand.AsFloat32(r.weight), c: operand.AsFloat32(c), back: r.back}
		w.Parallel((r.n+DotsGroup-1)/DotsGroup, max(1, 2*par.SimdPack/(DotsGroup*r.k)), r.dots)
		r.back = !r.back && w.Threads <= 1
	case r.packed != nil:
		gemm.Multiply(w, gemm.Product{M: r.rows, N: r.n, K: r.k, A: operand.AsFloat32(h), Lda: r.k,
			PackedB: r.packed, C: operand.AsFloat32(c), Ldc: ldc, Acc: true})
	default:
		gemm.Gemm(w, false, r.trans, r.rows, r.n, r.k, h, r.k, r.weight, r.ldw(), c, ldc, true)
	}
}

func (r *recurrence[T]) end(w *par.Workspace) {
	if r.dots != nil {
		par.PutJob(w, r.dots)
	}
}

// stepScratch is the most scratch of a recurrence of f32 on any machine.
func stepScratch(rows, n, k int) int {
	size := gemm.Scratch[float32](rows, n, k)
	if rows*n*k == 0 {
		return size
	}
	for _, l := range gemm.ScratchLevels {
		bl := gemm.BlockingOf(l)
		size = max(size, par.ScratchSize(k*operand.RoundUp(n, bl.Nr), 4)+gemm.BlockScratch(l, rows, n, k, true, false))
	}
	return size
}

// stepDots multiplies one state with the rows of a weight where they lie. Every
// other step goes from the last row to the first: of a weight that is a little too
// large for the cache, the rows that were read last are still there.
type stepDots struct {
	level        cpu.Level
	gates, k     int
	h, weight, c []float32
	back         bool
}

// Do computes groups [lo, hi) of rows of the weight. The weight is read once a
// step, by groups of rows as they lie, from its end at every other step, so that
// the rows left in a cache by the last step are read first.
func (j *stepDots) Do(lo, hi int) {
	groups := (j.gates + DotsGroup - 1) / DotsGroup
	if j.back {
		lo, hi = groups-hi, groups-lo
	}
	if whole := min(hi, j.gates/DotsGroup) - lo; whole > 0 {
		at := lo * DotsGroup
		StateDots32(j.level, whole, j.h[:j.k], j.weight[at*j.k:], j.k, j.c[at:], j.back)
		lo += whole
	}
	for at := lo * DotsGroup; lo < hi && at < j.gates; at += 4 {
		j.four(at, min(4, j.gates-at))
	}
}

// four adds the products with cols rows of the weight, those of the last group that is
// not whole, over a depth that stays in the first cache.
func (j *stepDots) four(at, cols int) {
	for p := 0; p < j.k; p += gemm.DotDepth {
		k := min(gemm.DotDepth, j.k-p)
		gemm.DotTile(j.level, 1, k, j.h[p:], j.k, j.weight[at*j.k+p:], j.k, cols, j.c[at:], j.gates, true)
	}
}
