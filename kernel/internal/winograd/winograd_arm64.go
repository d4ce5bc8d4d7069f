package winograd

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// input is Input where there is no code of x86. A vector has four tiles.
func input(l cpu.Level, e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	vecs, t := (tiles+3)/4, e+2
	if l != cpu.NEON {
		winogradInputGo(e, tiles, dst, ps, src, plane, row)
		return
	}
	_, _ = dst[(t*t-1)*ps+4*vecs-1], src[(e*t-1)*plane+row+4*vecs-1]
	if e == 4 {
		winogradInput4NEON(vecs, &dst[0], ps, &src[0], plane, row)
	} else {
		winogradInput2NEON(vecs, &dst[0], ps, &src[0], plane, row)
	}
}

// output is Output where there is no code of x86.
func output(l cpu.Level, e, rows, tiles int, dst, src []float32, ps int) {
	nr, vecs, t := gemm.BlockingOf(l).Nr, (tiles+3)/4, e+2
	if l != cpu.NEON {
		winogradOutputGo(e, nr, rows, tiles, dst, src, ps)
		return
	}
	_, _ = dst[rows*nr*e*e-1], src[(t*t-1)*ps+rows*nr-1]
	if e == 4 {
		winogradOutput4NEON(rows, vecs, &dst[0], &src[0], ps)
	} else {
		winogradOutput2NEON(rows, vecs, &dst[0], &src[0], ps)
	}
}
