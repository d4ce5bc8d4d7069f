package rowcol

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// farPart returns how many elements lie before the first line of the cache of
// dst and how many on whole lines from there on: those may go past the caches.
func farPart(dst []float32, stream bool) (head, body int) {
	if !stream || len(dst) < move.Turn {
		return 0, 0
	}
	head = move.ToLine(unsafe.Pointer(&dst[0])) / 4
	return head, (len(dst) - head) &^ 15
}

func affineEachFast(level cpu.Level, dst, x []float32, shift, scale, add float32, stream bool) bool {
	if level < cpu.AVX2 {
		return false
	}
	head, n := farPart(dst, stream)
	if n > 0 {
		if level == cpu.AVX512 {
			affineEachStreamAVX512(&dst[head], &x[head], n, shift, scale, add)
		} else {
			affineEachStreamAVX2(&dst[head], &x[head], n, shift, scale, add)
		}
		if head > 0 {
			affineEachFast(level, dst[:head], x[:head], shift, scale, add, false)
		}
		if n += head; n == len(x) {
			return true
		}
		dst, x = dst[n:], x[n:]
	}
	if level == cpu.AVX512 {
		affineEachAVX512(&dst[0], &x[0], len(x), shift, scale, add)
	} else {
		affineEachAVX2(&dst[0], &x[0], len(x), shift, scale, add)
	}
	return true
}

func affineRowFast(level cpu.Level, dst, x, weight, bias []float32, mean, scale, add float32, stream bool) bool {
	if level < cpu.AVX2 {
		return false
	}
	head, n := farPart(dst, stream)
	if n > 0 {
		if level == cpu.AVX512 {
			affineRowStreamAVX512(&dst[head], &x[head], &weight[head], &bias[head], n, mean, scale, add)
		} else {
			affineRowStreamAVX2(&dst[head], &x[head], &weight[head], &bias[head], n, mean, scale, add)
		}
		if head > 0 {
			affineRowFast(level, dst[:head], x[:head], weight, bias, mean, scale, add, false)
		}
		if n += head; n == len(x) {
			return true
		}
		dst, x, weight, bias = dst[n:], x[n:], weight[n:], bias[n:]
	}
	if level == cpu.AVX512 {
		affineRowAVX512(&dst[0], &x[0], &weight[0], &bias[0], len(x), mean, scale, add)
	} else {
		affineRowAVX2(&dst[0], &x[0], &weight[0], &bias[0], len(x), mean, scale, add)
	}
	return true
}

func affineColumnsFast(level cpu.Level, dst, x, shift, scale, add []float32) bool {
	if level < cpu.AVX2 {
		return false
	}
	if level == cpu.AVX512 {
		affineColumnsAVX512(&dst[0], &x[0], &shift[0], &scale[0], &add[0], len(x))
	} else {
		affineColumnsAVX2(&dst[0], &x[0], &shift[0], &scale[0], &add[0], len(x))
	}
	return true
}

func expShiftedFast(level cpu.Level, dst, x []float32, shift float32) bool {
	if level < cpu.AVX2 {
		return false
	}
	if level == cpu.AVX512 {
		expShiftedAVX512(&dst[0], &x[0], len(x), shift)
	} else {
		expShiftedAVX2(&dst[0], &x[0], len(x), shift)
	}
	return true
}

// rowsSoftmaxFast computes rows of n elements; it reports false where there is no
// assembly for all of it. Exponentials that go past the caches at last are kept in
// scratch that stays there: memory then serves only data that is read and written
// once.
func rowsSoftmaxFast(level cpu.Level, dst, src []float32, n int, stream bool) bool {
	if level < cpu.AVX512 || n == 0 || len(src) == 0 {
		return false
	}
	rows := len(src) / n
	if stream && n%16 == 0 && move.ToLine(unsafe.Pointer(&dst[0])) == 0 {
		w := par.SpareWorkspaces.Take()
		mark := w.Mark()
		softmaxRowsStreamAVX512(&dst[0], &par.Scratch[float32](w, n)[0], &src[0], n, rows)
		w.Release(mark)
		par.SpareWorkspaces.Put(w)
		return true
	}
	softmaxRowsAVX512(&dst[0], &dst[0], &src[0], n, rows)
	return true
}

// scalesAhead reports whether normRow serves rows of n elements.
func scalesAhead(level cpu.Level, dst []float32, n int, stream bool) bool {
	return cpu.X86 && level == cpu.AVX512 && n > 0 && n%16 == 0 && len(dst) > 0 && (!stream || move.ToLine(unsafe.Pointer(&dst[0])) == 0)
}

// normRow scales a row as AffineRow does and returns the sum of the next one.
func normRow(dst, x, weight, bias []float32, mean, scale, add float32, next []float32, ahead int, stream bool) float64 {
	if stream {
		return normRowStreamAVX512(&dst[0], &x[0], &weight[0], &bias[0], len(dst), mean, scale, add, &next[0], ahead)
	}
	return normRowAVX512(&dst[0], &x[0], &weight[0], &bias[0], len(dst), mean, scale, add, &next[0], ahead)
}
