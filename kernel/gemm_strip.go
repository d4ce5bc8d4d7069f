package kernel

//go:generate go run -C ../internal/asmgen ./strip

// stripSize is the most elements of a block of b that is read once for each
// panel of a: near caches hold it.
const stripSize = 384 << 10

// stripTotal is the most elements of all of b: from memory, it should come once
// and a panel at a time, which rows of several panels then share.
const stripTotal = 4 << 20

// byStrip reports whether panels of a are not packed but read where they lie,
// and each is multiplied with all columns by one call. In exchange b is read more
// often.
func (j *productJob) byStrip(depth int) bool {
	return hasStrip(j.level) && j.packedA == nil && !j.transA && depth*j.n <= stripSize && j.k*j.n <= stripTotal
}

// strip computes the rows of panel i and a share of the columns of this block.
func (j *productJob) strip(i, cut int) {
	bl := &j.bl
	r0, r1 := bl.rows(j.m, j.ip+i)
	panels := (j.nc + bl.nr - 1) / bl.nr
	x0, x1 := cut*panels/j.cuts*bl.nr, min((cut+1)*panels/j.cuts*bl.nr, j.nc)
	b, ldb, step := j.bPanel, bl.nr, bl.nr*j.kc
	if j.direct {
		b, ldb, step = j.b[j.pc*j.ldb+j.jc+x0:], j.ldb, bl.nr
	} else {
		_ = b[roundUp(x1, bl.nr)*j.kc-1] // a weight may be too short
		b = b[x0*j.kc:]
	}
	at := r0*j.ldc + j.jc
	c := j.c[at+x0 : at+(r1-r0-1)*j.ldc+x1]
	gemmStrip32(j.level, r1-r0, j.kc, j.a[r0*j.lda+j.pc:], j.lda, b, ldb, step, c, j.ldc, x1-x0, j.acc || !j.first)
	if !j.last || !j.end.some {
		return
	}
	for x := x0; x < x1; x += bl.nr {
		j.end.apply(j.level, r1-r0, min(bl.nr, x1-x), r0, j.jc+x, c[x-x0:], j.ldc)
	}
}
