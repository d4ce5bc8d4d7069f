//go:build !amd64

package kernel

func winogradSplit(_ cpuLevel, e, rows, first, from, to int, dst []float32, plane, ldd int, src []float32, lds, pad, width int) {
	winogradSplitGo(e, rows, first, from, to, dst, plane, ldd, src, lds, pad, width)
}

func winogradInput(_ cpuLevel, e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	winogradInputGo(e, tiles, dst, ps, src, plane, row)
}

func winogradOutput(l cpuLevel, e, rows, tiles int, dst, src []float32, ps int) {
	bl := blockingOf(l)
	winogradOutputGo(e, bl.nr, rows, tiles, dst, src, ps)
}

func (a *winogradStore) run(cpuLevel) { winogradStoreGo(a) }

func winogradProduct(l cpuLevel, rows, k int, a, b, c []float32, cols int, acc bool, ahead fetch) {
	nr := blockingOf(l).nr
	gemmTile32(l, rows, k, &a[0], &b[0], nr, &c[0], nr, cols, acc, ahead)
}
