package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// transposeBytes sets dst[c·ldd+r] = src[r·lds+c] for rows by cols bytes.
func transposeBytes(rows, cols int, src []uint8, lds int, dst []uint8, ldd int) {
	if rows == 3 && ldd == 3 && cols > 0 {
		// Images of three colours.
		r, g, b := src[:cols], src[lds:lds+cols], src[2*lds:2*lds+cols]
		for i, v := range r {
			d := dst[3*i : 3*i+3 : 3*i+3]
			d[0], d[1], d[2] = v, g[i], b[i]
		}
		return
	}
	if rows < 8 || cols < 16 {
		for r := range rows {
			for c, v := range src[r*lds : r*lds+cols] {
				dst[c*ldd+r] = v
			}
		}
		return
	}
	// A strip of 32 columns at a time, so that the lines written stay in the
	// cache until they are full. The last block of each direction overlaps the
	// one before it.
	for c := 0; c < cols; c += 32 {
		blocks, rest := min(2, (cols-c)/16), cols-c
		for r := 0; r < rows; r += 8 {
			r = min(r, rows-8)
			transposeBlocks(blocks, src[r*lds+c:], lds, dst[c*ldd+r:], ldd)
			if rest < 32 && rest%16 != 0 {
				last := cols - 16
				transposeBlocks(1, src[r*lds+last:], lds, dst[last*ldd+r:], ldd)
			}
		}
	}
}

// transposeBlocksGo transposes n blocks of 8 rows by 16 columns, next to each
// other, eight by eight bytes at a time in registers.
func transposeBlocksGo(n int, src []uint8, lds int, dst []uint8, ldd int) {
	for b := 0; b < 2*n; b++ {
		var v [8]uint64
		for i := range v {
			v[i] = cpu.LittleEndian.Uint64(src[i*lds+8*b:])
		}
		swapBits(&v, 4, 32, 0x00000000ffffffff)
		swapBits(&v, 2, 16, 0x0000ffff0000ffff)
		swapBits(&v, 1, 8, 0x00ff00ff00ff00ff)
		for i, u := range v {
			cpu.LittleEndian.PutUint64(dst[(8*b+i)*ldd:], u)
		}
	}
}

// swapBits exchanges the upper part of word i and the lower one of word i+step.
func swapBits(v *[8]uint64, step int, shift uint, mask uint64) {
	for i := range v {
		if i&step == 0 {
			a, b := v[i], v[i+step]
			t := (a>>shift ^ b) & mask
			v[i], v[i+step] = a^t<<shift, b^t
		}
	}
}

// transposeWords sets dst[c·ldd+r] = src[r·cols+c] for rows by cols elements,
// eight columns at a time so that lines of both are used whole.
func transposeWords[T int32 | float32](rows, cols int, src, dst []T, ldd int) {
	for c := 0; c < cols; c += 8 {
		width := min(8, cols-c)
		for r := range rows {
			for i, v := range src[r*cols+c : r*cols+c+width] {
				dst[(c+i)*ldd+r] = v
			}
		}
	}
}
