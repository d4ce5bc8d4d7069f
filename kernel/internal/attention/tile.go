package attention

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

//go:generate go run -C ../../../internal/generators/asmgen ./attention

// The parts of attention on matrices whose rows have a lane for each query of a
// block. Those of float32 have assembly; the functions ending in Go are its twins,
// whose sums are in another order and without fused operations.

// fast reports whether there is assembly for T at a level.
func fast[T operand.Real](l cpu.Level) bool {
	return operand.IsFloat32[T]() && cpu.HasAssembly && l != cpu.Generic
}

// scoreRows sets row r of c, for r < rows, to the sum over p < k of a[r*lda+p]
// times row p of b.
func scoreRows[T operand.Real](l cpu.Level, lanes, rows, k int, a []T, lda int, b, c []T) {
	switch {
	case k == 0:
		clear(c[:rows*lanes])
	case fast[T](l):
		_, _, _ = a[(rows-1)*lda+k-1], b[k*lanes-1], c[rows*lanes-1]
		attentionScores32(l, rows, k, operand.AsFloat32(a), lda, operand.AsFloat32(b), operand.AsFloat32(c))
	default:
		clear(c[:rows*lanes])
		lanesProductGo(lanes, rows, k, a, lda, 1, b, c)
	}
}

// mixRows sets row r of c, for r < rows, to the sum over p < k of a[p*lda+r] times
// row p of b, and with a scale adds the old contents times that row.
func mixRows[T operand.Real](l cpu.Level, lanes, rows, k int, a []T, lda int, b, c, scale []T) {
	if fast[T](l) {
		_, _, _ = a[(k-1)*lda+rows-1], b[k*lanes-1], c[rows*lanes-1]
		attentionValues32(l, rows, k, operand.AsFloat32(a), lda, operand.AsFloat32(b), operand.AsFloat32(c), operand.AsFloat32(scale))
		return
	}
	if scale == nil {
		clear(c[:rows*lanes])
	} else {
		scaleRowsGo(rows, c, scale)
	}
	lanesProductGo(lanes, rows, k, a, 1, lda, b, c)
}

// softmaxRows replaces scores by exp(score-high); see attentionSoftmaxGo.
func softmaxRows[T operand.Real](l cpu.Level, lanes, rows int, c, state []T) {
	if fast[T](l) {
		_, _ = c[rows*lanes-1], state[3*lanes-1]
		attentionSoftmax32(l, rows, operand.AsFloat32(c), operand.AsFloat32(state))
		return
	}
	attentionSoftmaxGo(lanes, rows, c, state)
}

// scaleRows multiplies the rows of c by the row scale.
func scaleRows[T operand.Real](l cpu.Level, rows int, c, scale []T) {
	if rows == 0 {
		return
	}
	if fast[T](l) {
		_ = c[rows*len(scale)-1]
		attentionScale32(l, rows, operand.AsFloat32(c), operand.AsFloat32(scale))
		return
	}
	scaleRowsGo(rows, c, scale)
}

// keepRows replaces the elements of row r of c that are greater than those of the
// row at t[at+r*ldt], or NaN, by the latter.
func keepRows[T operand.Real](l cpu.Level, lanes, rows int, c, t []T, at, ldt int) {
	_, _, _ = c[rows*lanes-1], t[at+lanes-1], t[at+(rows-1)*ldt:][lanes-1]
	if fast[T](l) {
		attentionKeep32(l, rows, operand.AsFloat32(c), operand.AsFloat32(t), at, ldt)
		return
	}
	for r := range rows {
		row, bound := c[r*lanes:][:lanes], t[at+r*ldt:][:lanes]
		for i, v := range bound {
			if !(row[i] <= v) {
				row[i] = v
			}
		}
	}
}

// addRowsOf adds the rows of t to those of c.
func addRowsOf[T operand.Real](l cpu.Level, lanes, rows int, c, t []T) {
	c, t = c[:rows*lanes], t[:rows*lanes]
	if fast[T](l) {
		attentionAdd32(l, rows, operand.AsFloat32(c), operand.AsFloat32(t), lanes)
		return
	}
	for i, v := range t {
		c[i] += v
	}
}

// turnRows stores dst[p*stride+r] = src[r*ld+p] for r < rows and p < k. With
// assembly, stride has to be rows rounded up to attentionPad, or to hold that.
// Assembly turns squares in registers; in Go rows are read along and written
// across.
func turnRows[T operand.Real](l cpu.Level, dst []T, stride int, src []T, ld, rows, k int) {
	if fast[T](l) {
		turnRows32(l, operand.AsFloat32(dst), stride, operand.AsFloat32(src), ld, rows, k)
		return
	}
	for r := range rows {
		for p, v := range src[r*ld:][:k] {
			dst[p*stride+r] = v
		}
	}
}

// turnRows32 is turnRows by the code that packs panels.
func turnRows32(l cpu.Level, dst []float32, stride int, src []float32, ld, rows, k int) {
	lanes := gemm.PanelLanes(l)
	for r := 0; r < rows; r += lanes {
		gemm.PackAlong(l, dst[r:], stride, src[r*ld:], ld, min(lanes, rows-r), k)
	}
}

// lanesProductGo adds to row r of c the sum over p < k of a[r*sr+p*sp] times row p
// of b, two rows and four lanes at a time.
func lanesProductGo[T operand.Real](lanes, rows, k int, a []T, sr, sp int, b, c []T) {
	for r := 0; r < rows; r += 2 {
		second := min(1, rows-1-r) // 0 repeats the row, whose sums are dropped
		for x := 0; x < lanes; x += gemm.NR {
			var s0, s1 [gemm.NR]T
			at, next := r*sr, (r+second)*sr
			for p := range k {
				u, v := a[at], a[next]
				y := b[p*lanes+x:][:gemm.NR]
				s0[0] += T(u * y[0])
				s0[1] += T(u * y[1])
				s0[2] += T(u * y[2])
				s0[3] += T(u * y[3])
				s1[0] += T(v * y[0])
				s1[1] += T(v * y[1])
				s1[2] += T(v * y[2])
				s1[3] += T(v * y[3])
				at, next = at+sp, next+sp
			}
			for i, v := range s0 {
				c[r*lanes+x+i] += v
			}
			if second == 1 {
				for i, v := range s1 {
					c[(r+1)*lanes+x+i] += v
				}
			}
		}
	}
}

// attentionSoftmaxGo takes rows of scores into an online softmax. The rows of state
// are, for each query, the highest score yet, the sum of exp(score-high), and the
// factor of earlier sums. It updates the last two.
func attentionSoftmaxGo[T operand.Real](lanes, rows int, c, state []T) {
	for x := range lanes {
		high := state[x]
		for r := range rows {
			if v := c[r*lanes+x]; v > high || v != v {
				high = v
			}
		}
		// Less than any number, -Inf would give NaN.
		from := max(float64(high), -math.MaxFloat32)
		factor := exponential[T](float64(state[x]) - from)
		sum := T(state[lanes+x] * factor)
		for r := range rows {
			e := exponential[T](float64(c[r*lanes+x]) - from)
			c[r*lanes+x] = e
			sum += e
		}
		state[x], state[lanes+x], state[2*lanes+x] = high, sum, factor
	}
}

func exponential[T operand.Real](x float64) T {
	if operand.IsFloat32[T]() {
		return T(vmath.Exp32(x))
	}
	return T(math.Exp(x))
}

// scaleRowsGo multiplies rows of c by scale.
func scaleRowsGo[T operand.Real](rows int, c, scale []T) {
	for r := range rows {
		row := c[r*len(scale):][:len(scale)]
		for i, v := range scale {
			row[i] *= v
		}
	}
}

// readHalf copies rows of 16-bit floats that lie strides apart.
func readHalf[T operand.Real](dst []T, src []uint16, brain bool, shape, strides [2]int, at int) {
	n, cols := shape[0], shape[1]
	if !operand.IsFloat32[T]() || strides[1] != 1 || cols == 0 {
		operand.GatherHalf(dst, src, brain, shape[:], strides[:], at)
		return
	}
	if strides[0] == cols { // one call for all rows: those of heads are short
		n, cols = 1, n*cols
	}
	for r := range n {
		half.Widen(operand.AsFloat32(dst[r*cols:][:cols]), src[at+r*strides[0]:][:cols], brain)
	}
}

// readSame copies rows of elements that are computed in themselves.
func readSame[T operand.Real](dst, src []T, shape, strides [2]int, at int) {
	for range shape[0] {
		row, p := dst[:shape[1]], at
		for i := range row {
			row[i] = src[p]
			p += strides[1]
		}
		dst, at = dst[shape[1]:], at+strides[0]
	}
}
