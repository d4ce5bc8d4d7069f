package kernel

// Products with few rows or columns: each element of the large operand is used
// so seldom that packing it would cost more than it saves.
const (
	dotDepth   = 1024 // terms that dotTile sums at once
	dotRow     = 4096 // elements of the large operand that are taken together
	dotCols    = 12   // rows of a transposed b up to which they are multiplied with the rows of a
	streamRows = 4    // rows of c up to which the rows of b are streamed
	streamUnit = 64   // columns in one unit of that work
	streamCols = 2048 // elements of c that stay in the first-level cache
	streamStep = 8    // rows of b taken together
)

// thin reports whether p is computed without packing its large operand.
func (p *product) thin(l cpuLevel) bool {
	if !p.plain() || !hasThin(l) {
		return false
	}
	return p.byDots() || p.byRows()
}

// byDots: the rows of both operands lie along k, but for the short one, which
// is brought into that form.
func (p *product) byDots() bool {
	return p.m <= dotRows && (p.transB || p.n == 1 && p.ldb == 1) || !p.transA && (p.n <= dotRows || p.transB && p.n <= dotCols)
}

// byRows: the rows of b lie across k and there are few of c.
func (p *product) byRows() bool { return p.m <= streamRows && !p.transB }

// thinScratch is the scratch that multiplyThin takes.
func (p *product) thinScratch() int {
	q := *p
	if q.n == 1 && q.ldb == 1 {
		q.transB = true
	}
	switch {
	case !q.byDots():
		if q.transA {
			return scratchSize(q.m*q.k, 4)
		}
	case q.byB():
		if q.transA {
			return scratchSize(q.m*q.k, 4)
		}
	case !q.transB:
		return scratchSize(q.n*q.k, 4)
	}
	return 0
}

// byB reports whether it is b that has the many rows of a product of rows.
func (p *product) byB() bool { return p.transB && p.m <= dotRows && (p.m <= p.n || p.transA) }

func multiplyThin(w *Workspace, l cpuLevel, p product) {
	mark := w.Mark()
	j := takeJob[thinProduct](w)
	*j = thinProduct{product: p, level: l}
	if p.n == 1 && p.ldb == 1 {
		j.transB, j.ldb = true, p.k
	}
	if j.byDots() {
		j.dots(w)
	} else {
		if p.transA {
			j.a, j.lda = transposed(w, p.a, p.lda, p.k, p.m), p.k
		}
		w.Parallel((p.n+streamUnit-1)/streamUnit, max(1, 2*simdPack/(streamUnit*p.k)), j)
	}
	if j.end.some {
		j.end.apply(l, p.m, p.n, 0, 0, p.c, p.ldc)
	}
	putJob(w, j)
	w.Release(mark)
}

// transposed returns the transposed copy of a rows×cols matrix.
func transposed(w *Workspace, src []float32, ld, rows, cols int) []float32 {
	dst := Scratch[float32](w, rows*cols)
	for i := range rows {
		for j, v := range src[i*ld : i*ld+cols] {
			dst[j*rows+i] = v
		}
	}
	return dst
}

// thinProduct is such a product in progress.
type thinProduct struct {
	product
	level cpuLevel

	// With byDots: x has the few rows, y the many, along k.
	x, y      []float32
	ldx, ldy  int
	nx, ny    int
	across    bool // x are the rows of a, y the columns of c
	alongRows bool // byDots
}

func (j *thinProduct) dots(w *Workspace) {
	j.alongRows = true
	if j.byB() {
		j.across = true
		j.x, j.ldx, j.nx = j.a, j.lda, j.m
		j.y, j.ldy, j.ny = j.b, j.ldb, j.n
		if j.transA {
			j.x, j.ldx = transposed(w, j.a, j.lda, j.k, j.m), j.k
		}
	} else {
		j.x, j.ldx, j.nx = j.b, j.ldb, j.n
		j.y, j.ldy, j.ny = j.a, j.lda, j.m
		if !j.transB {
			j.x, j.ldx = transposed(w, j.b, j.ldb, j.k, j.n), j.k
		}
	}
	w.Parallel((j.ny+3)/4, max(1, 2*simdPack/(4*j.k)), j)
}

// Do computes the rows [4*lo, 4*hi) of y, or streams the units [lo, hi) of columns.
func (j *thinProduct) Do(lo, hi int) {
	if !j.alongRows {
		j.stream(lo*streamUnit, min(hi*streamUnit, j.n))
		return
	}
	step, most := dotStep(j.level), dotStep(j.level)
	if j.across {
		most = max(4, dotRow/min(j.k, dotDepth))
	}
	for y := 4 * lo; y < min(4*hi, j.ny); {
		rows := min(most, 4*hi-y, j.ny-y)
		for p := 0; p < j.k; p += dotDepth {
			k := min(dotDepth, j.k-p)
			if !j.across {
				dotTile(j.level, rows, k, j.y[y*j.ldy+p:], j.ldy, j.x[p:], j.ldx, j.nx, j.c[y*j.ldc:], j.ldc, j.acc || p > 0)
				continue
			}
			for x := 0; x < j.nx; x += step {
				dotTile(j.level, min(step, j.nx-x), k, j.x[x*j.ldx+p:], j.ldx, j.y[y*j.ldy+p:], j.ldy, rows, j.c[x*j.ldc+y:], j.ldc, j.acc || p > 0)
			}
		}
		y += rows
	}
}

// stream computes the columns [lo, hi) of all rows.
func (j *thinProduct) stream(lo, hi int) {
	block := streamCols / j.m
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		if !j.acc {
			for i := range j.m {
				clear(j.c[i*j.ldc+lo : i*j.ldc+lo+n])
			}
		}
		for p := 0; p < j.k; p += streamStep {
			k := min(streamStep, j.k-p)
			for i := range j.m {
				addRows32(j.level, j.c[i*j.ldc+lo:i*j.ldc+lo+n], j.a[i*j.lda+p:i*j.lda+p+k], j.b[p*j.ldb+lo:], j.ldb)
			}
		}
	}
}

// byPanels: b is packed and read so seldom that packing a would cost too much.
func (p *product) byPanels(l cpuLevel) bool {
	return p.packedB != nil && p.packedA == nil && !p.transA && p.m <= dotRows && hasThin(l)
}

func multiplyPanels(w *Workspace, l cpuLevel, p product) {
	j := takeJob[panelProduct](w)
	*j = panelProduct{product: p, level: l, bl: blockingOf(l)}
	panels, threads := (p.n+j.bl.nr-1)/j.bl.nr, max(1, w.Threads)
	grain := panels // one thread reads all of b in order
	if threads > 1 {
		grain = max(1, 2*simdPack/(j.bl.nr*p.k), panels/(4*threads))
	}
	w.Parallel(panels, grain, j)
	putJob(w, j)
}

// panelProduct is a product of few rows with a packed operand in progress.
type panelProduct struct {
	product
	level cpuLevel
	bl    blocking
}

// Do computes the columns of panels [lo, hi), in the order in which b lies.
func (j *panelProduct) Do(lo, hi int) {
	nr, depth := j.bl.nr, j.bl.depth(j.k)
	tiles := (j.m + thinStep(j.level) - 1) / thinStep(j.level)
	step := (j.m + tiles - 1) / tiles
	for p := 0; p < j.k; p += depth {
		kc := min(depth, j.k-p)
		for i := lo; i < hi; i++ {
			b := j.packedB[p*roundUp(j.n, nr)+i*nr*kc:][:nr*kc]
			cols := min(nr, j.n-i*nr)
			for r := 0; r < j.m; r += step {
				rows := min(step, j.m-r)
				thinTile(j.level, rows, kc, j.a[r*j.lda+p:], j.lda, b, j.c[r*j.ldc+i*nr:], j.ldc, cols, j.acc || p > 0)
			}
			if p+kc == j.k && j.end.some {
				j.end.apply(j.level, j.m, cols, 0, i*nr, j.c[i*nr:], j.ldc)
			}
		}
	}
}
