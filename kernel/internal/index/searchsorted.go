package index

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// SearchSorted gives for every element of in[1] the i64 index at which it belongs
// in in[0], sorted along its last dimension: before equal elements, or with Right
// after them. in[0] is one sequence for all, or one for each row of in[1]. NaN
// belongs at the end.
//
//gofx:kernel
type SearchSorted struct{ Right bool }

// ScratchBytes implements Scratcher.
func (s SearchSorted) ScratchBytes(_, in []*array.Array) int {
	return reduce.OwnBytes(in[0]) + reduce.OwnBytes(in[1])
}

// Run implements Step.
func (s SearchSorted) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	seq, x := in[0], in[1]
	if seq.Rank() == 0 || seq.DType() != x.DType() {
		operand.BadOperand("searchsorted", "the sequence has no dimensions or another element type")
	}
	idx := move.RawOut[int64](out[0])
	switch move.ScalarOf(seq.DType()) {
	case array.F32:
		searchRows(s, idx, move.LoadOrdered[float32](w, seq), move.LoadOrdered[float32](w, x), seq, x)
	case array.F64:
		searchRows(s, idx, move.LoadOrdered[float64](w, seq), move.LoadOrdered[float64](w, x), seq, x)
	default:
		searchRows(s, idx, move.LoadOrdered[int64](w, seq), move.LoadOrdered[int64](w, x), seq, x)
	}
}

// searchRows finds the places of the values of x in their rows of seq. A row of
// seq stays near while all values of a row of x halve it.
func searchRows[T move.Scalar](s SearchSorted, idx []int64, seq, x []T, seqOf, xOf *array.Array) {
	n, row := seqOf.Dim(-1), len(x)
	if seqOf.Rank() > 1 && row > 0 {
		row = xOf.Dim(-1)
	}
	for ; len(x) > 0; x, idx = x[row:], idx[row:] {
		for i, v := range x[:row] {
			idx[i] = int64(s.position(n, func(k int) bool { return seq[k] > v || !s.Right && seq[k] == v }))
		}
		if seqOf.Rank() > 1 {
			seq = seq[n:]
		}
	}
}

// position returns the first of n elements that lies beyond, by halving; for
// elements out of order the result is that of halving.
func (s SearchSorted) position(n int, beyond func(k int) bool) int {
	lo := 0
	for lo < n {
		if mid := lo + (n-lo)/2; beyond(mid) {
			n = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
