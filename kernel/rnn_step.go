package kernel

// recurrence adds the products of a state with its weight, which every step
// repeats: the weight is read in the cheapest way for the number of rows.
type recurrence[T real] struct {
	rows, gates, hidden int
	weight              []T
	packed              []float32 // the weight for many rows
	dots                *stepDots // the products for few
	back                bool      // the next step reads the weight from its end
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
		w.Parallel((r.gates+3)/4, max(1, simdWork/(4*r.rows*r.hidden)), r.dots)
		r.back = !r.back
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

// Do computes rows [4*lo, 4*hi) of the weight.
func (j *stepDots) Do(lo, hi int) {
	if j.back {
		last := (j.gates + 3) / 4
		lo, hi = last-hi, last-lo
	}
	for i := range hi - lo {
		at := 4 * (lo + i)
		if j.back {
			at = 4 * (hi - 1 - i)
		}
		j.four(at, min(4, j.gates-at))
	}
}

// four adds the products with cols rows of the weight.
func (j *stepDots) four(at, cols int) {
	var out [16]float32
	step := dotStep(j.level)
	for p := 0; p < j.k; p += dotDepth {
		k := min(dotDepth, j.k-p)
		for x := 0; x < j.rows; x += step {
			rows := min(step, j.rows-x)
			dotTile(j.level, rows, k, j.h[x*j.k+p:], j.k, j.weight[at*j.k+p:], j.k, cols, &out)
			for r := range rows {
				c := j.c[(x+r)*j.ldc+at:][:cols]
				for q := range c {
					c[q] += out[4*r+q]
				}
			}
		}
	}
}
