//go:build !amd64

package quant

func qRows() int { return 6 }

func qTileBytes(_, _ int, _ []uint8, _, _ int, _ []int64, _ int, _ []int8, _ *qEpilogue, _ int, _ []uint8) bool {
	return false
}

func qDepthwise(pixels, step int, src []uint8, at int, offs []int64, cols int, weight []int8, acc []int32) {
	qDepthwiseGo(pixels, step, src, at, offs, 0, cols, weight, acc)
}

func transposeBlocks(n int, src []uint8, lds int, dst []uint8, ldd int) {
	transposeBlocksGo(n, src, lds, dst, ldd)
}

func qEvens(dst, src []uint8) { qEvensGo(dst, src) }
