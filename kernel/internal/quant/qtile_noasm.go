//go:build !amd64 && !arm64

package quant

func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, b []int8, c []int32, ldc int) {
	qTileGo(rows, a, at, lda, offs, run, b, c, ldc)
}
