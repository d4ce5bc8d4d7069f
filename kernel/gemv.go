package kernel

//go:generate go run -C ../internal/asmgen ./gemv

// gemvCols is the number of columns of a product up to which its packed left
// operand is multiplied with them one by one: it is read from memory far more
// slowly than the sums are computed.
const gemvCols = 4

// gemvPanels is the number of panels that are taken together.
const gemvPanels = 4

// isGemv reports whether p is a packed matrix times few vectors.
func (p *product) isGemv(l cpuLevel) bool {
	return hasGemv(l) && p.packedA != nil && p.packedB == nil && p.window == nil && !p.transB && !p.acc &&
		p.n >= 1 && p.n <= gemvCols && p.k > 0
}

// multiplyGemv computes p.
func multiplyGemv(w *Workspace, l cpuLevel, p product) {
	j := takeJob[gemvJob](w)
	*j = gemvJob{product: p, level: l, bl: blockingOf(l)}
	units := (j.bl.panels(p.m) + gemvPanels - 1) / gemvPanels
	w.Parallel(units, max(1, 8*simdPack/(gemvPanels*j.bl.stride*p.k)), j)
	putJob(w, j)
}

// gemvJob multiplies groups of panels with the columns of b.
type gemvJob struct {
	product
	level cpuLevel
	bl    blocking
}

// Do computes the rows of the groups [lo, hi) of panels.
func (j *gemvJob) Do(lo, hi int) {
	var sums [gemvPanels * 16]float32
	bl := &j.bl
	panels := bl.panels(j.m)
	for i := lo * gemvPanels; i < min(hi*gemvPanels, panels); {
		n := min(gemvPanels, panels-i)
		if n == 3 {
			n = 2
		}
		for col := range j.n {
			j.sum(&sums, i, n, col)
			j.scatter(&sums, i, n, col)
		}
		i += n
	}
	first, _ := bl.rows(j.m, lo*gemvPanels)
	_, last := bl.rows(j.m, min(hi*gemvPanels, panels)-1)
	j.finish(first, last)
}

// sum adds up n panels from panel i on with a column, block of k by block of k.
func (j *gemvJob) sum(sums *[gemvPanels * 16]float32, i, n, col int) {
	bl := &j.bl
	depth, panels := bl.depth(j.k), bl.panels(j.m)
	for pc := 0; pc < j.k; pc += depth {
		kc := min(depth, j.k-pc)
		a := j.packedA[pc*panels*bl.stride+i*bl.stride*kc:][:n*bl.stride*kc]
		x := j.b[pc*j.ldb+col:][:(kc-1)*j.ldb+1]
		gemv(j.level, n, kc, a, x, j.ldb, sums, pc > 0)
	}
}

// scatter stores the rows of n panels, which have fewer rows than lanes.
func (j *gemvJob) scatter(sums *[gemvPanels * 16]float32, i, n, col int) {
	for p := range n {
		r0, r1 := j.bl.rows(j.m, i+p)
		j.put(r0, sums[p*j.bl.stride:][:r1-r0], col)
	}
}

// put stores the sums of a column in the rows from row on.
func (j *gemvJob) put(row int, sums []float32, col int) {
	if j.n == 1 && j.ldc == 1 {
		copy(j.c[row:row+len(sums)], sums)
		return
	}
	for r, v := range sums {
		j.c[(row+r)*j.ldc+col] = v
	}
}

// finish applies the epilogue to rows [lo, hi). A single column is a row of the
// transposed matrix.
func (j *gemvJob) finish(lo, hi int) {
	e := j.end
	if j.n > 1 || j.ldc > 1 || e.scaleCol != nil || e.biasCol != nil || e.residual != nil && e.ldr != 1 {
		e.apply(j.level, hi-lo, j.n, lo, 0, j.c[lo*j.ldc:], j.ldc)
		return
	}
	e.scaleRow, e.scaleCol = nil, e.scaleRow
	e.biasRow, e.biasCol = nil, e.biasRow
	e.apply(j.level, 1, hi-lo, 0, lo, j.c[lo:hi], hi-lo)
}
