package gemm

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Products of bf16 round their operands to bf16 and sum in f32. Processors with AVX-512 BF16 take
// two of them at a time: a word, of the size of a float, has elements 2i and 2i+1 of a sum, and a
// multiply-add of words adds the product of the second ones and then that of the first ones, each
// in one rounding. So a product of words is one of half the depth, by the tiles, in the layouts
// and in the order of products of floats; what packs and copies floats does it for words, too.
// Other processors multiply the rounded operands as floats.
//
// Either way is within (k+2)·2⁻²³·Σ|a·b| of the exact sum of the rounded operands, as other products
// are, and k·2⁻¹²⁶·(1+|a|+|b|) more for the greatest |a| and |b|: AVX-512 BF16 counts subnormal operands
// and sums as 0.

// Words returns the words of k elements.
func Words(k int) int { return (k + 1) / 2 }

// JoinAlong stores elements 2i and 2i+1 of src in word i of dst. It needs cpu.HasPairs.
func JoinAlong(dst, src []float32) {
	if len(src) == 0 {
		return
	}
	_ = dst[Words(len(src))-1]
	joinAlongPairs(len(src), &src[0], &dst[0])
}

// JoinAcross stores element i of lo and of hi, which may be nil, in word i of dst. It needs
// cpu.HasPairs.
func JoinAcross(dst, lo, hi []float32) {
	if len(lo) == 0 {
		return
	}
	_ = dst[len(lo)-1]
	if hi == nil {
		joinAcrossPairs(len(lo), &lo[0], nil, &dst[0])
		return
	}
	_ = hi[len(lo)-1]
	joinAcrossPairs(len(lo), &lo[0], &hi[0], &dst[0])
}

// Brains returns the rows of a matrix [rows, k] as products of bf16 read them, and their length:
// words, or rounded floats. What it returns takes at most rows·k floats of scratch.
func Brains(w *par.Workspace, src []float32, rows, k int) (dst []float32, length int) {
	if !cpu.HasPairs() {
		dst = par.Scratch[float32](w, rows*k)
		RoundAll(w, dst, src[:rows*k])
		return dst, k
	}
	length = Words(k)
	dst = par.Scratch[float32](w, rows*length)
	j := par.TakeJob[joinJob](w)
	*j = joinJob{dst: dst, src: src, k: k, plane: 1}
	w.Parallel(rows, max(1, par.SimdPack/max(k, 1)), j)
	par.PutJob(w, j)
	return dst, length
}

// BrainPlanes returns the channels of images, each a plane of so many floats, as products of bf16 read
// them: with pairs words of two neighbouring channels of an image, else floats. It takes
// at most len(src) floats of scratch.
func BrainPlanes(w *par.Workspace, pairs bool, src []float32, images, channels, plane int) []float32 {
	if !pairs {
		dst := par.Scratch[float32](w, len(src))
		RoundAll(w, dst, src)
		return dst
	}
	units := images * Words(channels)
	dst := par.Scratch[float32](w, units*plane)
	j := par.TakeJob[joinJob](w)
	*j = joinJob{dst: dst, src: src, k: channels, plane: plane, across: true}
	w.Parallel(units, max(1, par.SimdPack/max(2*plane, 1)), j)
	par.PutJob(w, j)
	return dst
}

// SplitPlanes returns the channels of words that BrainPlanes made.
func SplitPlanes(w *par.Workspace, words []float32, images, channels, plane int) []float32 {
	dst := par.Scratch[float32](w, images*channels*plane)
	for i := range images * channels {
		from := words[(i/channels*Words(channels)+i%channels/2)*plane:]
		for p := range plane {
			v := math.Float32bits(from[p])
			if i%channels%2 == 0 {
				v <<= 16
			}
			dst[i*plane+p] = math.Float32frombits(v &^ 0xffff)
		}
	}
	return dst
}

// joinJob makes words of k elements each: those of rows, or of channels of so many floats.
type joinJob struct {
	dst, src []float32
	k, plane int
	across   bool
}

// Do makes the words of rows, or words of channels, [lo, hi).
func (j *joinJob) Do(lo, hi int) {
	n := Words(j.k)
	for i := lo; i < hi; i++ {
		if !j.across {
			JoinAlong(j.dst[i*n:(i+1)*n], j.src[i*j.k:(i+1)*j.k])
			continue
		}
		c := 2 * (i % n)
		from := j.src[(i/n*j.k+c)*j.plane:]
		var hi []float32
		if c+1 < j.k {
			hi = from[j.plane : 2*j.plane]
		}
		JoinAcross(j.dst[i*j.plane:(i+1)*j.plane], from[:j.plane], hi)
	}
}

// roundUnit is the floats that are rounded at a time.
const roundUnit = 1024

// RoundAll sets dst to src, rounded to bf16.
func RoundAll(w *par.Workspace, dst, src []float32) {
	j := par.TakeJob[roundJob](w)
	*j = roundJob{dst: dst, src: src}
	w.Parallel((len(src)+roundUnit-1)/roundUnit, max(1, par.SimdPack/roundUnit), j)
	par.PutJob(w, j)
}

type roundJob struct{ dst, src []float32 }

// Do rounds units [lo, hi).
func (j *roundJob) Do(lo, hi int) {
	var short [roundUnit]uint16
	for ; lo < hi; lo++ {
		src := j.src[lo*roundUnit : min((lo+1)*roundUnit, len(j.src))]
		half.Narrow(short[:len(src)], src, true)
		half.Widen(j.dst[lo*roundUnit:][:len(src)], short[:len(src)], true)
	}
}

// brainMatrix returns a weight [n, k], whose rows or columns lie ld floats apart, as products of
// bf16 read it: op(b) of a right operand, its depth, its distance between rows, and whether its
// rows lie along the depth.
func brainMatrix(w *par.Workspace, m matOperand[float32], n, k int) (b []float32, depth, ld int) {
	src, depth := m.data[m.at:], k
	rows, cols := n, k
	if m.trans {
		rows, cols = k, n
	}
	if !cpu.HasPairs() {
		b = par.Scratch[float32](w, rows*cols)
		for i := range rows {
			RoundAll(w, b[i*cols:(i+1)*cols], src[i*m.ld:i*m.ld+cols])
		}
		return b, k, cols
	}
	depth = Words(k)
	b = par.Scratch[float32](w, n*depth)
	if !m.trans {
		for i := range n {
			JoinAlong(b[i*depth:(i+1)*depth], src[i*m.ld:i*m.ld+k])
		}
		return b, depth, depth
	}
	for q := range depth {
		var hi []float32
		if 2*q+1 < k {
			hi = src[(2*q+1)*m.ld:][:n]
		}
		JoinAcross(b[q*n:(q+1)*n], src[2*q*m.ld:][:n], hi)
	}
	return b, depth, n
}
