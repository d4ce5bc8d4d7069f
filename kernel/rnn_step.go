package kernel

// recurrence adds the products of a state with its weight, which every step
// repeats: the weight is read in the cheapest way for the number of rows.
type recurrence[T real] struct {
	rows, gates, hidden int
	weight              []T
	packed              []float32 // the weight for many rows
	dots                *stepDots // the products for few
	back                bool      // the next step reads the weight from its end, on one thread
	level               cpuLevel
}

// newRecurrence prepares products of rows states of hidden with weight [gates, hidden].
func newRecurrence[T real](w *Workspace, rows, gates, hidden int, weight []T) (r recurrence[T]) {
	r = recurrence[T]{rows: rows, gates: gates, hidden: hidden, weight: weight, level: cpu.level}
	if !isFloat32[T]() || !assembly() || rows*gates*hidden == 0 {
		return r
	}
	switch {
	case hasThin(r.level) && rows <= dotRows:
		r.dots = takeJob[stepDots](w)
	case rows >= gemmThin:
		r.packed = Scratch[float32](w, PackedLen(hidden, gates))
		packRight(w, r.packed, true, hidden, gates, asFloat32(weight), hidden)
	}
	return r
}

// add adds h·weightᵀ to the rows of c, ldc apart.
func (r *recurrence[T]) add(w *Workspace, h, c []T, ldc int) {
	switch {
	case r.dots != nil:
		*r.dots = stepDots{level: r.level, rows: r.rows, gates: r.gates, k: r.hidden, h: asFloat32(h),
			weight: asFloat32(r.weight), c: asFloat32(c), ldc: ldc, back: r.back}
		w.Parallel((r.gates+dotsGroup-1)/dotsGroup, max(1, 2*simdPack/(dotsGroup*r.hidden)), r.dots)
		r.back = !r.back && w.Threads <= 1
	case r.packed != nil:
		multiply(w, product{m: r.rows, n: r.gates, k: r.hidden, a: asFloat32(h), lda: r.hidden,
			packedB: r.packed, c: asFloat32(c), ldc: ldc, acc: true})
	default:
		Gemm(w, false, true, r.rows, r.gates, r.hidden, h, r.hidden, r.weight, r.hidden, c, ldc, true)
	}
}

func (r *recurrence[T]) end(w *Workspace) {
	if r.dots != nil {
		putJob(w, r.dots)
	}
}

// stepScratch is the most scratch of a recurrence of f32 on any machine.
func stepScratch(rows, gates, hidden int) int {
	size := gemmScratch[float32](rows, gates, hidden)
	if rows*gates*hidden == 0 {
		return size
	}
	for _, l := range scratchLevels {
		bl := blockingOf(l)
		size = max(size, scratchSize(hidden*roundUp(gates, bl.nr), 4)+blockScratch(l, rows, gates, hidden, true, false))
	}
	return size
}

// stepDots multiplies few states with the rows of a weight where they lie. Every
// other step goes from the last row to the first: of a weight that is a little too
// large for the cache, the rows that were read last are still there.
type stepDots struct {
	level          cpuLevel
	rows, gates, k int
	h, weight, c   []float32
	ldc            int
	back           bool
}

// dotsGroup is the rows of the weight that belong together.
const dotsGroup = 8

// Do computes groups [lo, hi) of rows of the weight.
func (j *stepDots) Do(lo, hi int) {
	groups := (j.gates + dotsGroup - 1) / dotsGroup
	if j.back {
		lo, hi = groups-hi, groups-lo
	}
	whole := min(hi, j.gates/dotsGroup) - lo
	if whole > 0 && j.rows == 1 {
		at := lo * dotsGroup
		stateDots32(j.level, whole, j.h[:j.k], j.weight[at*j.k:], j.k, j.c[at:], j.back)
		lo += whole
	}
	for i := range hi - lo {
		g := lo + i
		if j.back {
			g = hi - 1 - i
		}
		for at := g * dotsGroup; at < min(j.gates, (g+1)*dotsGroup); at += 4 {
			j.four(at, min(4, j.gates-at))
		}
	}
}

// four adds the products with cols rows of the weight.
func (j *stepDots) four(at, cols int) {
	step := dotStep(j.level)
	for p := 0; p < j.k; p += dotDepth {
		k := min(dotDepth, j.k-p)
		for x := 0; x < j.rows; x += step {
			rows := min(step, j.rows-x)
			dotTile(j.level, rows, k, j.h[x*j.k+p:], j.k, j.weight[at*j.k+p:], j.k, cols, j.c[x*j.ldc+at:], j.ldc, true)
		}
	}
}
