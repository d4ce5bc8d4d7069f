//go:build !amd64 && !arm64

package quant

func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, w *PackedQ, panel int, c []int32, ldc int) {
	qTileGo(rows, a, at, lda, offs, run, w.panel(panel), c, ldc)
}

func (t *qTileOut) requant(e *qEpilogue) { t.requantGo(e) }

func dequant(rows, cols int, acc []int32, ldacc int, e *qEpilogue, row, col int) {
	dequantGo(rows, cols, acc, ldacc, e, row, col)
}

func qAddBytes(a, b []uint8, s *qSum, dst []uint8) { qAddGo(a, b, s, dst) }

func qMulBytes(a, b []uint8, s *qSum, dst []uint8) { qMulGo(a, b, s, dst) }

func quantize(src []float32, scale, lo, hi float32, zero int32, dst []uint8) {
	quantizeGo(src, scale, lo, hi, zero, dst)
}

func dequantizeBytes(dst []float32, src []uint8, flip uint8, scale float32, zero int32) {
	dequantizeGo(dst, src, flip, scale, zero)
}

func valueRange(src []float32) (lo, hi float32) { return valueRangeGo(src) }

func qLookup(dst, src, table []uint8) { qLookupGo(dst, src, table) }

func lookupPays() bool { return true }

func spread(dst []uint8, run int, src []uint8) { spreadGo(dst, run, src) }

func qMost(count, step int, src, dst []uint8, in, out uint8) { qMostGo(count, step, src, dst, in, out) }

func qAddUp(acc []int32, src []uint8, flip uint8) { qAddUpGo(acc, src, flip) }

func qTotals(sums []int64, n int, src []uint8, flip uint8) {
	for i := range sums {
		sums[i] = qTotalGo(src[i*n:(i+1)*n], flip)
	}
}

func rescale(sums []int32, units []float32, zero int32, scale float32, bias []int32, by []float32) {
	rescaleGo(sums, units, zero, scale, bias, by)
}
