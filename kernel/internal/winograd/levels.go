package winograd

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

//go:generate go run -C ../../../internal/generators/asmgen ./winograd

// Split sorts rows of an image into planes by their place in a patch, as
// winogradSplitGo does.
func Split(l cpu.Level, e, rows, first, from, to int, dst []float32, plane, ldd int, src []float32, lds, pad, width int) {
	if !cpu.X86 {
		winogradSplitGo(e, rows, first, from, to, dst, plane, ldd, src, lds, pad, width)
		return
	}
	_, _ = dst[(e*(e+2)-1)*plane+(first+rows-1)/e*ldd+to-1], src[(rows-1)*lds+width-1]
	switch {
	case l == cpu.AVX512 && e == 4:
		winogradSplit4AVX512(rows, first, from, to, &dst[0], plane, ldd, &src[0], lds, pad, width)
	case l == cpu.AVX512:
		winogradSplit2AVX512(rows, first, from, to, &dst[0], plane, ldd, &src[0], lds, pad, width)
	case e == 4:
		winogradSplit4AVX2(rows, first, from, to, &dst[0], plane, ldd, &src[0], lds, pad, width)
	default:
		winogradSplit2AVX2(rows, first, from, to, &dst[0], plane, ldd, &src[0], lds, pad, width)
	}
}

// Input transforms the patches of at least `tiles` tiles, whole vectors.
func Input(l cpu.Level, e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	if !cpu.X86 {
		input(l, e, tiles, dst, ps, src, plane, row)
		return
	}
	lanes := gemm.PanelLanes(l)
	vecs, t := (tiles+lanes-1)/lanes, e+2
	_, _ = dst[(t*t-1)*ps+vecs*lanes-1], src[(e*t-1)*plane+row+vecs*lanes-1]
	switch {
	case l == cpu.AVX512 && e == 4:
		winogradInput4AVX512(vecs, &dst[0], ps, &src[0], plane, row)
	case l == cpu.AVX512:
		winogradInput2AVX512(vecs, &dst[0], ps, &src[0], plane, row)
	case e == 4:
		winogradInput4AVX2(vecs, &dst[0], ps, &src[0], plane, row)
	default:
		winogradInput2AVX2(vecs, &dst[0], ps, &src[0], plane, row)
	}
}

// filter transforms the filters of some channels as winogradFilterGo does.
func filter(l cpu.Level, e, chans int, dst []float32, ps int, src []float32) {
	lanes, t := gemm.PanelLanes(l), e+2
	if !cpu.X86 {
		winogradFilterGo(e, lanes, chans, dst, ps, src)
		return
	}
	_, _ = dst[(t*t-1)*ps+chans*lanes-1], src[chans*9*lanes-1]
	switch {
	case l == cpu.AVX512 && e == 4:
		winogradFilter4AVX512(chans, &dst[0], ps, &src[0])
	case l == cpu.AVX512:
		winogradFilter2AVX512(chans, &dst[0], ps, &src[0])
	case e == 4:
		winogradFilter4AVX2(chans, &dst[0], ps, &src[0])
	default:
		winogradFilter2AVX2(chans, &dst[0], ps, &src[0])
	}
}

// Output transforms sums to blocks of outputs, whole vectors of tiles.
func Output(l cpu.Level, e, rows, tiles int, dst, src []float32, ps int) {
	if !cpu.X86 {
		output(l, e, rows, tiles, dst, src, ps)
		return
	}
	lanes := gemm.PanelLanes(l)
	vecs, t, nr := (tiles+lanes-1)/lanes, e+2, 2*lanes
	_, _ = dst[rows*nr*e*e-1], src[(t*t-1)*ps+rows*nr-1]
	switch {
	case l == cpu.AVX512 && e == 4:
		winogradOutput4AVX512(rows, vecs, &dst[0], &src[0], ps)
	case l == cpu.AVX512:
		winogradOutput2AVX512(rows, vecs, &dst[0], &src[0], ps)
	case e == 4:
		winogradOutput4AVX2(rows, vecs, &dst[0], &src[0], ps)
	default:
		winogradOutput2AVX2(rows, vecs, &dst[0], &src[0], ps)
	}
}

// seed transforms a vector of channels of tiles of a gradient, as winogradSeedGo does.
func seed(l cpu.Level, tiles int, dst []float32, ps int, src []float32, col, row int) {
	lanes := gemm.PanelLanes(l)
	if !cpu.X86 {
		winogradSeedGo(lanes, tiles, dst, ps, src, col, row)
		return
	}
	_, _ = dst[35*ps+tiles*lanes-1], src[3*row+(4*tiles-1)*col+lanes-1]
	if l == cpu.AVX512 {
		winogradSeed4AVX512(tiles, &dst[0], ps, &src[0], col, row)
	} else {
		winogradSeed4AVX2(tiles, &dst[0], ps, &src[0], col, row)
	}
}

// taps turns sums to filters, whole vectors of channels, as winogradTapsGo does.
func taps(l cpu.Level, vecs int, dst []float32, ldd int, src []float32, ps int) {
	n := vecs * gemm.PanelLanes(l)
	if !cpu.X86 {
		winogradTapsGo(n, dst, ldd, src, ps)
		return
	}
	_, _ = dst[8*ldd+n-1], src[35*ps+n-1]
	if l == cpu.AVX512 {
		winogradTaps4AVX512(vecs, &dst[0], ldd, &src[0], ps)
	} else {
		winogradTaps4AVX2(vecs, &dst[0], ldd, &src[0], ps)
	}
}

func (a *winogradStore) run(l cpu.Level) {
	switch {
	case !cpu.X86:
		winogradStoreGo(l, a)
	case l == cpu.AVX512:
		winogradStoreAVX512((*byte)(unsafe.Pointer(a)))
	default:
		winogradStoreAVX2((*byte)(unsafe.Pointer(a)))
	}
}

// winogradProduct multiplies a panel of filters with the first columns of a panel of
// inputs, both panels nr wide, as gemm.Tile32 does. A few columns past whole
// vectors are multiplied by themselves.
func winogradProduct(l cpu.Level, rows, k int, a, b, c []float32, cols int, acc bool, ahead gemm.Fetch) {
	if !cpu.X86 {
		nr := gemm.BlockingOf(l).Nr
		gemm.Tile32(l, rows, k, &a[0], &b[0], nr, &c[0], nr, cols, acc, ahead)
		return
	}
	lanes := gemm.PanelLanes(l)
	nr, few := 2*lanes, cols%lanes
	_, _, _ = a[k*lanes-1], b[k*nr-1], c[rows*nr-1]
	if few > fewColumns {
		few = 0
	}
	if few < cols {
		gemm.Tile32(l, rows, k, &a[0], &b[0], nr, &c[0], nr, cols-few, acc, ahead)
	}
	switch at := cols - few; {
	case few == 0:
	case l == cpu.AVX512:
		winogradNarrowAVX512(rows, k, &a[0], &b[at], nr, &c[at], nr, few, acc)
	default:
		winogradNarrowAVX2(rows, k, &a[0], &b[at], nr, &c[at], nr, few, acc)
	}
}
