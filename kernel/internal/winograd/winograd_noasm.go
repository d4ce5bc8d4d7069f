//go:build !arm64

package winograd

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// input is Input where there is no code of x86.
func input(_ cpu.Level, e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	winogradInputGo(e, tiles, dst, ps, src, plane, row)
}

// output is Output where there is no code of x86.
func output(l cpu.Level, e, rows, tiles int, dst, src []float32, ps int) {
	winogradOutputGo(e, gemm.BlockingOf(l).Nr, rows, tiles, dst, src, ps)
}
