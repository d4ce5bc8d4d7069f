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
	rows, gates, hidden int
	weight              []T
	packed              []float32 // the weight for many rows
	dots                *stepDots // the products for few
	back                bool      // the next step reads the weight from its end, on one thread
	level               cpu.Level
	quantised           bool
	bytes               quant.Dynamic // the products of quantised weights
}

// newRecurrence prepares products of rows states of hidden with weight [gates, hidden].
func newRecurrence[T operand.Real](w *par.Workspace, rows, gates, hidden int, weight []T) (r recurrence[T]) {
	r = recurrence[T]{rows: rows, gates: gates, hidden: hidden, weight: weight, level: cpu.Host.Level}
	if !operand.IsFloat32[T]() || !cpu.Assembly() || rows*gates*hidden == 0 {
		return r
	}
	switch {
	case gemm.HasThin(r.level) && rows <= gemm.DotRows:
		r.dots = par.TakeJob[stepDots](w)
	case rows >= gemm.ThinRows:
		r.packed = par.Scratch[float32](w, gemm.PackedLen(hidden, gates))
		gemm.PackRight(w, r.packed, true, hidden, gates, operand.AsFloat32(weight), hidden)
	}
	return r
}

// add adds h·weightᵀ to the rows of c, ldc apart.
func (r *recurrence[T]) add(w *par.Workspace, h, c []T, ldc int) {
	switch {
	case r.quantised:
		r.bytes.Add(w, r.rows, operand.AsFloat32(h), operand.AsFloat32(c), ldc)
	case r.dots != nil:
		*r.dots = stepDots{level: r.level, rows: r.rows, gates: r.gates, k: r.hidden, h: operand.AsFloat32(h),
			weight: operand.AsFloat32(r.weight), c: operand.AsFloat32(c), ldc: ldc, back: r.back}
		w.Parallel((r.gates+DotsGroup-1)/DotsGroup, max(1, 2*par.SimdPack/(DotsGroup*r.hidden)), r.dots)
		r.back = !r.back && w.Threads <= 1
	case r.packed != nil:
		gemm.Multiply(w, gemm.Product{M: r.rows, N: r.gates, K: r.hidden, A: operand.AsFloat32(h), Lda: r.hidden,
			PackedB: r.packed, C: operand.AsFloat32(c), Ldc: ldc, Acc: true})
	default:
		gemm.Gemm(w, false, true, r.rows, r.gates, r.hidden, h, r.hidden, r.weight, r.hidden, c, ldc, true)
	}
}

func (r *recurrence[T]) end(w *par.Workspace) {
	if r.dots != nil {
		par.PutJob(w, r.dots)
	}
}

// stepScratch is the most scratch of a recurrence of f32 on any machine.
func stepScratch(rows, gates, hidden int) int {
	size := gemm.Scratch[float32](rows, gates, hidden)
	if rows*gates*hidden == 0 {
		return size
	}
	for _, l := range gemm.ScratchLevels {
		bl := gemm.BlockingOf(l)
		size = max(size, par.ScratchSize(hidden*operand.RoundUp(gates, bl.Nr), 4)+gemm.BlockScratch(l, rows, gates, hidden, true, false))
	}
	return size
}

// stepDots multiplies few states with the rows of a weight where they lie. Every
// other step goes from the last row to the first: of a weight that is a little too
// large for the cache, the rows that were read last are still there.
type stepDots struct {
	level          cpu.Level
	rows, gates, k int
	h, weight, c   []float32
	ldc            int
	back           bool
}

// Do computes groups [lo, hi) of rows of the weight. The weight is read once a
// step, by groups of rows as they lie, from its end at every other step, so that
// the rows left in a cache by the last step are read first.
func (j *stepDots) Do(lo, hi int) {
	groups := (j.gates + DotsGroup - 1) / DotsGroup
	if j.back {
		lo, hi = groups-hi, groups-lo
	}
	whole := min(hi, j.gates/DotsGroup) - lo
	if whole > 0 && j.rows == 1 {
		at := lo * DotsGroup
		StateDots32(j.level, whole, j.h[:j.k], j.weight[at*j.k:], j.k, j.c[at:], j.back)
		lo += whole
	}
	for i := range hi - lo {
		g := lo + i
		if j.back {
			g = hi - 1 - i
		}
		for at := g * DotsGroup; at < min(j.gates, (g+1)*DotsGroup); at += 4 {
			j.four(at, min(4, j.gates-at))
		}
	}
}

// four adds the products with cols rows of the weight. Four rows of the weight,
// over a depth that stays in the first cache, meet all rows of the state.
func (j *stepDots) four(at, cols int) {
	step := gemm.DotStep(j.level)
	for p := 0; p < j.k; p += gemm.DotDepth {
		k := min(gemm.DotDepth, j.k-p)
		for x := 0; x < j.rows; x += step {
			rows := min(step, j.rows-x)
			gemm.DotTile(j.level, rows, k, j.h[x*j.k+p:], j.k, j.weight[at*j.k+p:], j.k, cols, j.c[x*j.ldc+at:], j.ldc, true)
		}
	}
}
