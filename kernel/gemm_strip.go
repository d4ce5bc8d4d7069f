package kernel

//go:generate go run -C ../internal/asmgen ./strip

// stripSize is the most elements of a block of b that is read once for each
// panel of a: near caches hold it.
const stripSize = 384 << 10

// byStrip reports whether panels of a are not packed but read where they lie,
// and each is multiplied with all columns by one call. In exchange b is read more
// often.
func (j *productJob) byStrip(depth int) bool {
	return hasStrip(j.level) && j.packedA == nil && !j.transA && depth*j.n <= stripSize
}

// strip computes the rows of panel i and the columns of this block.
func (j *productJob) strip(i int) {
	bl := &j.bl
	r0, r1 := bl.rows(j.m, j.ip+i)
	b, ldb, step := j.bPanel, bl.nr, bl.nr*j.kc
	if j.direct {
		b, ldb, step = j.b[j.pc*j.ldb+j.jc:], j.ldb, bl.nr
	} else {
		_ = b[roundUp(j.nc, bl.nr)*j.kc-1]
	}
	at := r0*j.ldc + j.jc
	c := j.c[at : at+(r1-r0-1)*j.ldc+j.nc]
	gemmStrip32(j.level, r1-r0, j.kc, j.a[r0*j.lda+j.pc:], j.lda, b, ldb, step, c, j.ldc, j.nc, j.acc || !j.first)
	if !j.last || !j.end.some {
		return
	}
	for x := 0; x < j.nc; x += bl.nr {
		j.end.apply(j.level, r1-r0, min(bl.nr, j.nc-x), r0, j.jc+x, c[x:], j.ldc)
	}
}
