package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// qAxis2 is an axis of two operands that broadcast: its size, and how far apart
// elements of both lie, 0 where an operand repeats.
type qAxis2 struct{ size, a, b int }

// qAxes are the axes of two dense operands, innermost first, as few as there can be.
// Innermost elements of an operand are next to each other, or one.
type qAxes struct {
	rank int
	axis [operand.MaxRank]qAxis2
}

// join fills the axes of operands of shapes a and b whose result has shape out, and
// reports false where they do not broadcast to it.
func (x *qAxes) join(out, a, b []int) bool {
	if len(out) > operand.MaxRank || len(a) > len(out) || len(b) > len(out) {
		return false
	}
	x.rank = 0
	nextA, nextB := 1, 1
	for k := 1; k <= len(out); k++ {
		n := qAxis2{size: out[len(out)-k]}
		var okA, okB bool
		n.a, nextA, okA = stepOf(a, k, n.size, nextA)
		n.b, nextB, okB = stepOf(b, k, n.size, nextB)
		if n.size == 1 && okA && okB {
			continue
		}
		if !okA || !okB || n.a == 0 && n.b == 0 && n.size > 0 {
			return false
		}
		if x.rank > 0 {
			if p := &x.axis[x.rank-1]; n.a == p.a*p.size && n.b == p.b*p.size {
				p.size *= n.size
				continue
			}
		}
		x.axis[x.rank] = n
		x.rank++
	}
	if x.rank == 0 {
		x.axis[0], x.rank = qAxis2{1, 1, 1}, 1
	}
	return true
}

// stepOf returns the distance of elements along the k-th dimension from the end of a
// dense operand, what it is along the next one, and whether size is right.
func stepOf(shape []int, k, size, next int) (step, after int, ok bool) {
	own := 1
	if k <= len(shape) {
		own = shape[len(shape)-k]
	}
	if own == 1 {
		return 0, next, true
	}
	return next, next * own, own == size
}

// qSpread is how many elements an operand that repeats is written out for.
const qSpread = 512

// Do computes elements [lo, hi): runs of the innermost axis, in the order of the
// result. What repeats along it is spread over a small block that stays in the first
// cache.
func (j *qPairJob) Do(lo, hi int) {
	var at [operand.MaxRank]int
	x := &j.axes
	a, b, rest := 0, 0, lo
	for k := range x.rank {
		n := x.axis[k]
		at[k] = rest % n.size
		rest /= n.size
		a, b = a+at[k]*n.a, b+at[k]*n.b
	}
	for inner := x.axis[0]; lo < hi; {
		run := min(inner.size-at[0], hi-lo)
		j.run(a, b, j.dst[lo:lo+run])
		lo += run
		a, b = a-at[0]*inner.a, b-at[0]*inner.b
		at[0] = 0
		for k := 1; k < x.rank; k++ {
			n := x.axis[k]
			a, b = a+n.a, b+n.b
			if at[k]++; at[k] < n.size {
				break
			}
			a, b, at[k] = a-n.size*n.a, b-n.size*n.b, 0
		}
	}
}

// run computes dst, a run of the innermost axis, from j.a[a] and j.b[b] on.
func (j *qPairJob) run(a, b int, dst []uint8) {
	inner := &j.axes.axis[0]
	if inner.a == inner.b {
		j.pair(j.a[a:a+len(dst)], j.b[b:b+len(dst)], dst)
		return
	}
	var block [qSpread]uint8
	one := j.a[a]
	if inner.a != 0 {
		one = j.b[b]
	}
	operand.FillBlock(block[:min(len(dst), qSpread)], one)
	for i := 0; i < len(dst); i += qSpread {
		to := dst[i:min(i+qSpread, len(dst))]
		if inner.a != 0 {
			j.pair(j.a[a+i:a+i+len(to)], block[:len(to)], to)
		} else {
			j.pair(block[:len(to)], j.b[b+i:b+i+len(to)], to)
		}
	}
}

func (j *qPairJob) pair(a, b, dst []uint8) {
	if j.multiply {
		qMulBytes(a, b, &j.sum, dst)
		return
	}
	qAddBytes(a, b, &j.sum, dst)
}
