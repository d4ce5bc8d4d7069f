package move

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Repeat sets the rows of n elements that dst is made of, each to one element of src:
// they are step apart.
func Repeat(level cpu.Level, dst, src []uint32, step, n int) {
	if len(dst) == 0 || cpu.X86 && repeatFast(level, dst, src, step, n) {
		return
	}
	for at := 0; len(dst) > 0; at += step {
		operand.FillBlock(dst[:n], src[at])
		dst = dst[n:]
	}
}

// CopyRows sets dst[y*ldd+x] to src[y*lds+x] for x < n and y < rows.
func CopyRows(dst []float32, ldd int, src []float32, lds, n, rows int) {
	if n <= 0 || rows <= 0 || cpu.X86 && copyRowsFast(dst, ldd, src, lds, n, rows) {
		return
	}
	for y := range rows {
		copy(dst[y*ldd:y*ldd+n], src[y*lds:])
	}
}
