package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// byStrip reports whether panels of a are not packed but read where they lie,
// and each is multiplied with all columns by one call. In exchange b is read more
// often.
func (j *productJob) byStrip(depth, panels int) bool {
	return hasStrip(j.level) && j.PackedA == nil && !j.transA && !crowded((j.M+panels-1)/panels, j.Lda) &&
		depth*j.N <= stripSize(panels, j.PackedB != nil) && j.K*j.N <= stripTotal()
}

// strip computes the rows of panel i and a share of the columns of this block.
func (j *productJob) strip(i, cut int) {
	bl := &j.bl
	r0, r1 := bl.Rows(j.M, j.ip+i)
	panels := (j.nc + bl.Nr - 1) / bl.Nr
	x0, x1 := cut*panels/j.cuts*bl.Nr, min((cut+1)*panels/j.cuts*bl.Nr, j.nc)
	b, ldb, step := j.bPanel, bl.Nr, bl.Nr*j.kc
	if j.direct {
		b, ldb, step = j.B[j.pc*j.Ldb+j.jc+x0:], j.Ldb, bl.Nr
	} else {
		_ = b[operand.RoundUp(x1, bl.Nr)*j.kc-1] // a weight may be too short
		b = b[x0*j.kc:]
	}
	at := r0*j.Ldc + j.jc
	c := j.C[at+x0 : at+(r1-r0-1)*j.Ldc+x1]
	gemmStrip32(j.level, r1-r0, j.kc, j.A[r0*j.Lda+j.pc:], j.Lda, b, ldb, step, c, j.Ldc, x1-x0, j.Acc || !j.first)
	if !j.last {
		return
	}
	for x := x0; x < x1; x += bl.Nr {
		j.End.Apply(j.level, r1-r0, min(bl.Nr, x1-x), r0, j.jc+x, c[x-x0:], j.Ldc)
	}
}
