package quant

// qTileGo is the twin of the assembly micro-kernels: c = a·b for rows rows and
// the 32 columns of a panel b. Row i of a starts i·lda after a[at]; it is read in
// runs, run t at offs[t], of run elements. Sums wrap around.
func qTileGo(rows int, a []uint8, at, lda int, offs []int64, run int, b []int8, c []int32, ldc int) {
	groups := (run + 3) / 4
	if run == 0 {
		offs = nil
	}
	for r := range rows {
		dst := c[r*ldc : r*ldc+qCols]
		for col := 0; col < qCols; col += 4 {
			var s0, s1, s2, s3 int32
			for t, off := range offs {
				src := a[at+r*lda+int(off):][:run]
				w := b[t*groups*qGroup+col*4:]
				for len(src) >= 4 {
					a0, a1, a2, a3 := int32(src[0]), int32(src[1]), int32(src[2]), int32(src[3])
					v := w[:16]
					s0 += a0*int32(v[0]) + a1*int32(v[1]) + a2*int32(v[2]) + a3*int32(v[3])
					s1 += a0*int32(v[4]) + a1*int32(v[5]) + a2*int32(v[6]) + a3*int32(v[7])
					s2 += a0*int32(v[8]) + a1*int32(v[9]) + a2*int32(v[10]) + a3*int32(v[11])
					s3 += a0*int32(v[12]) + a1*int32(v[13]) + a2*int32(v[14]) + a3*int32(v[15])
					src = src[4:]
					if len(w) > qGroup {
						w = w[qGroup:]
					}
				}
				for i, x := range src {
					s0 += int32(x) * int32(w[i])
					s1 += int32(x) * int32(w[4+i])
					s2 += int32(x) * int32(w[8+i])
					s3 += int32(x) * int32(w[12+i])
				}
			}
			dst[col], dst[col+1], dst[col+2], dst[col+3] = s0, s1, s2, s3
		}
	}
}

// qRoundMagic is 1.5·2^23: adding and subtracting it rounds a float32 below 2^22
// in magnitude to an integer, halves to even, on every machine alike.
const qRoundMagic = 12582912

// clampRound clamps v to [lo, hi], NaN to lo, rounds halves to even and adds zero.
// The limits are below 2^22 in magnitude.
func clampRound(v, lo, hi float32, zero int32) int32 {
	if !(v > lo) {
		v = lo
	}
	if !(v < hi) {
		v = hi
	}
	return int32(float32(v+qRoundMagic)-qRoundMagic) + zero
}

// qTileOut is a tile of sums, columns col and on of the product, and where it goes
// as bytes.
type qTileOut struct {
	rows, cols, col int
	sums            []int32
	step            int // between rows of sums
	dst             []uint8
	ld              int // between rows of dst, and of the residual
	res             qResidual
}

// requantGo is the twin of qRequantAVX512, and with a residual of qRequantAddAVX512.
func (t *qTileOut) requantGo(e *qEpilogue) {
	bias, scale := e.bias[t.col:t.col+t.cols], e.scale[t.col:t.col+t.cols]
	for r := range t.rows {
		sums, dst := t.sums[r*t.step:r*t.step+t.cols], t.dst[r*t.ld:r*t.ld+t.cols]
		var add []uint8
		if t.res.bytes != nil {
			add = t.res.bytes[r*t.ld : r*t.ld+t.cols]
		}
		for i, v := range sums {
			f := float32(float32(v+bias[i]) * scale[i])
			if add != nil {
				f += float32(float32(int32(add[i]^t.res.flip)-t.res.zero) * t.res.scale)
			}
			dst[i] = uint8(clampRound(f, e.lo, e.hi, e.zero))
		}
	}
}

// dequantGo is the twin of qDequantAVX512.
func dequantGo(rows, cols int, acc []int32, ldacc int, e *qEpilogue, row, col int) {
	bias, scale := e.bias[col:col+cols], e.scale[col:col+cols]
	for r := range rows {
		src, d := acc[r*ldacc:r*ldacc+cols], e.floats[(row+r)*e.ld+col:][:cols]
		add := e.add[(row+r)*e.ldAdd+col:][:cols]
		for i, v := range src {
			d[i] = float32(float32(v+bias[i])*scale[i]) + add[i]
		}
	}
}

// biasGo adds the bias to sums that stay integers.
func biasGo(rows, cols int, acc []int32, ldacc int, bias []int32, dst []int32, ld int) {
	for r := range rows {
		src, d := acc[r*ldacc:r*ldacc+cols], dst[r*ld:r*ld+cols]
		for i, v := range src {
			d[i] = v + bias[i]
		}
	}
}
