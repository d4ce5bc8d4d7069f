package quant

import (
	"math/bits"
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/geom"
)

// qPoolTile is the argument of the assembly for a vector of results of some lines,
// whose windows have as many lines of taps; the generator knows the places of its
// fields.
type qPoolTile struct {
	src             *uint8
	at              int // from src, where the first tap of the first window lies
	dst             *uint8
	lines, lineStep int // of results; bytes between the first lines of their windows
	ld              int // between lines of results
	rows, rowStep   int // of a window
	taps, tapStep   int // of a line of it
	even            int // 1 where every second window is a result
	keep            uint64
	masks           [qPoolRows]uint64 // by the tap, windows for which it lies in the line
}

// mostTiles takes the maxima of the windows of a plane, a vector of windows of
// neighbouring positions at a time.
func (j *qPoolJob) mostTiles(dst, src []uint8) {
	ow, s := j.Out[2], j.Stride[2]
	t := qPoolTile{lineStep: j.Stride[1] * j.In[2], ld: ow, rowStep: j.Dilate[1] * j.In[2], taps: j.Kernel[2], tapStep: j.Dilate[2], even: s - 1}
	for x := 0; x < ow; x += 64 / s {
		t.at = x*s - j.PadLo[2]
		t.keep = lanesBelow(min(ow-x, 64/s))
		for k := range t.taps {
			at := t.at + k*t.tapStep
			t.masks[k] = lanesBelow(j.In[2]-at) &^ lanesBelow(-at)
		}
		j.mostLines(dst[x:], src, &t)
	}
}

// lanesBelow is a mask of the first n of 64 lanes.
func lanesBelow(n int) uint64 {
	if n <= 0 {
		return 0
	}
	return 1<<n - 1
}

// linesAlike says how many lines of results from o on have all of their windows' lines in the plane,
// or that one has not, and returns where its windows begin.
func (j *qPoolJob) linesAlike(t *qPoolTile, o int) (top int) {
	top, t.lines = o*j.Stride[1]-j.PadLo[1], 1
	if last := j.In[1] - (j.Kernel[1]-1)*j.Dilate[1] - 1; top >= 0 && top <= last {
		t.lines = min(j.Out[1]-o, (last-top)/j.Stride[1]+1)
	}
	return top
}

// mostLines computes all lines of a vector of results: those whose windows lie in the
// plane together, others one by one.
func (j *qPoolJob) mostLines(dst, src []uint8, t *qPoolTile) {
	reach := j.Kernel[1] * j.Dilate[1]
	_ = src[j.InPlane-1]
	for o := 0; o < j.Out[1]; o += t.lines {
		top := j.linesAlike(t, o)
		end := min(top+reach, j.In[1])
		top = geom.FirstTap(top, j.Dilate[1])
		if t.rows = max(0, (end-top+j.Dilate[1]-1)/j.Dilate[1]); t.rows == 0 {
			fillBytes(dst[o*t.ld:][:bits.Len64(t.keep)], j.flip)
			continue
		}
		t.src, t.dst = &src[top*j.In[2]], &dst[o*t.ld]
		if p := (*uint8)(unsafe.Pointer(t)); j.flip == 0 {
			qPoolU8AVX512(p)
		} else {
			qPoolI8AVX512(p)
		}
	}
}

// meanLanes is how many windows next to each other have their sums in a vector.
const meanLanes = 32

// qMeanTile is a qPoolTile of means of up to meanLanes windows, with their factors and what is
// added to their sums; the generator knows the places of its fields.
type qMeanTile struct {
	qPoolTile
	bias   [meanLanes]int32
	scale  [meanLanes]float32
	lo, hi float32
	zero   int32
	flip   uint32
}

// meanTiles takes the means of the windows of a plane, those of a vector of neighbouring positions at a time.
func (j *qPoolJob) meanTiles(dst, src []uint8) {
	ow, s := j.Out[2], j.Stride[2]
	t := qMeanTile{lo: j.lo, hi: j.hi, zero: j.zero, flip: fours(j.flip)}
	t.lineStep, t.ld, t.rowStep, t.taps = j.Stride[1]*j.In[2], ow, j.In[2], (j.Kernel[2]+s-1)/s
	for x := 0; x < ow; x += meanLanes {
		n := min(ow-x, meanLanes)
		t.at, t.keep = x*s-j.PadLo[2], lanesBelow(n)
		for k := range t.taps {
			at := t.at + k*s
			t.masks[k] = lanesBelow(min(j.In[2]-at, n*s)) &^ lanesBelow(-at)
			if k*s+s > j.Kernel[2] {
				t.masks[k] &= evenLanes
			}
		}
		j.meanLines(dst[x:], src, &t, x, n)
	}
}

// evenLanes is a mask of every second lane.
const evenLanes = 0x5555555555555555

// meanLines computes all lines of a vector of n results, from column x on.
func (j *qPoolJob) meanLines(dst, src []uint8, t *qMeanTile, x, n int) {
	_ = src[j.InPlane-1]
	own, padded := -1, 0
	for o := 0; o < j.Out[1]; o += t.lines {
		top := j.linesAlike(&t.qPoolTile, o)
		end := min(top+j.Kernel[1], j.end[1])
		both := end - top
		top, end = max(top, 0), min(end, j.In[1])
		if t.rows = max(0, end-top); own != t.rows || padded != both {
			own, padded = t.rows, both
			for i := range n {
				t.bias[i], t.scale[i] = j.windowOf(x+i, own, padded)
			}
		}
		if own == 0 {
			for i, by := range t.scale[:n] {
				dst[o*t.ld+i] = uint8(clampRound(float32(0*by), j.lo, j.hi, j.zero))
			}
			continue
		}
		t.src, t.dst = &src[top*j.In[2]], &dst[o*t.ld]
		if p := (*uint8)(unsafe.Pointer(t)); j.Stride[2] == 1 {
			qMeanBy1AVX512(p)
		} else {
			qMeanBy2AVX512(p)
		}
	}
}

// windowOf returns what is added to the sum of a window of column x and the factor of its mean:
// own and padded lines of it are in the plane, and there with its padding.
func (j *qPoolJob) windowOf(x, own, padded int) (bias int32, scale float32) {
	left := x*j.Stride[2] - j.PadLo[2]
	right := min(left+j.Kernel[2], j.end[2])
	width := right - left
	n := own * max(min(right, j.In[2])-max(left, 0), 0)
	divisor := n
	if j.include {
		divisor = padded * width
	}
	return -int32(n) * j.zeroX, j.scale / float32(max(divisor, 1))
}
