package rowcol

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// The last operations of norms and softmax on elements of f32. Every operation
// rounds to f32, so that every level gives the same bits. stream says that the
// whole result is too large to be found in a cache later.

// AffineEach sets dst to (x-shift)*scale + add. Who streams calls move.OrderStores at last.
func AffineEach(level cpu.Level, dst, x []float32, shift, scale, add float32, stream bool) {
	dst = dst[:len(x)]
	if len(x) == 0 || cpu.X86 && affineEachFast(level, dst, x, shift, scale, add, stream) {
		return
	}
	for i, v := range x {
		dst[i] = float32((v-shift)*scale) + add
	}
}

// AffineRow sets dst to ((x-mean)*scale + add)*weight + bias.
func AffineRow(level cpu.Level, dst, x, weight, bias []float32, mean, scale, add float32, stream bool) {
	dst, weight, bias = dst[:len(x)], weight[:len(x)], bias[:len(x)]
	if len(x) == 0 || cpu.X86 && affineRowFast(level, dst, x, weight, bias, mean, scale, add, stream) {
		return
	}
	for i, v := range x {
		n := float32((v-mean)*scale) + add
		dst[i] = float32(n*weight[i]) + bias[i]
	}
}

// AffineColumns sets dst to (x-shift)*scale + add, where all have an element for
// each of x.
func AffineColumns(level cpu.Level, dst, x, shift, scale, add []float32) {
	dst, shift, scale, add = dst[:len(x)], shift[:len(x)], scale[:len(x)], add[:len(x)]
	if len(x) == 0 || cpu.X86 && affineColumnsFast(level, dst, x, shift, scale, add) {
		return
	}
	for i, v := range x {
		dst[i] = float32((v-shift[i])*scale[i]) + add[i]
	}
}

// InTwo returns the f32 nearest to v and the difference.
func InTwo(v float64) (high float32, low float64) {
	high = float32(v)
	return high, v - float64(high)
}
