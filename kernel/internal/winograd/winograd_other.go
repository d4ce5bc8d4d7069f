//go:build !amd64

package winograd

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// Split sorts rows of an image into planes by their place in a patch.
func Split(_ cpu.Level, e, rows, first, from, to int, dst []float32, plane, ldd int, src []float32, lds, pad, width int) {
	winogradSplitGo(e, rows, first, from, to, dst, plane, ldd, src, lds, pad, width)
}

// Input transforms the patches of at least `tiles` tiles.
func Input(_ cpu.Level, e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	winogradInputGo(e, tiles, dst, ps, src, plane, row)
}

// Output transforms sums to blocks of outputs.
func Output(l cpu.Level, e, rows, tiles int, dst, src []float32, ps int) {
	bl := gemm.BlockingOf(l)
	winogradOutputGo(e, bl.Nr, rows, tiles, dst, src, ps)
}

func (a *winogradStore) run(cpu.Level) { winogradStoreGo(a) }

func winogradProduct(l cpu.Level, rows, k int, a, b, c []float32, cols int, acc bool, ahead gemm.Fetch) {
	nr := gemm.BlockingOf(l).Nr
	gemm.Tile32(l, rows, k, &a[0], &b[0], nr, &c[0], nr, cols, acc, ahead)
}
