package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// Sort orders in[0] along Dim: out[0] has the values, out[1] their i64 indices
// along Dim. NaN counts as greater than every number. Equal elements keep
// their order whether or not Stable asks for it, so results are deterministic.
type Sort struct {
	Dim                int
	Descending, Stable bool
}

// ScratchBytes implements Scratcher.
func (s Sort) ScratchBytes(_, in []*array.Array) int {
	_, n, _ := splitAt("sort", in[0], s.Dim)
	return ownBytes(in[0]) + 4*scratchSize(n, 8)
}

// Run implements Step.
func (s Sort) Run(w *Workspace, out, in []*array.Array) {
	_, n, inner := splitAt("sort", in[0], s.Dim)
	idx := rawOut[int64](out[1])
	sortOrder(w, idx, in[0], n, n, inner, s.Descending)
	takeAlong(w, out[0], in[0], idx, n, inner)
}

// TopK takes the K greatest (or with Largest false the least) elements along
// Dim: out[0] has the values, out[1] their i64 indices. They come in order,
// equal ones by index, whether or not Sorted asks for it. NaN counts as
// greater than every number.
type TopK struct {
	K, Dim          int
	Largest, Sorted bool
}

// ScratchBytes implements Scratcher.
func (t TopK) ScratchBytes(_, in []*array.Array) int {
	_, n, _ := splitAt("topk", in[0], t.Dim)
	return ownBytes(in[0]) + 4*scratchSize(n, 8)
}

// Run implements Step.
func (t TopK) Run(w *Workspace, out, in []*array.Array) {
	_, n, inner := splitAt("topk", in[0], t.Dim)
	if t.K < 0 || t.K > n {
		badOperand("topk", "k exceeds the size of the dimension")
	}
	idx := rawOut[int64](out[1])
	sortOrder(w, idx, in[0], t.K, n, inner, t.Largest)
	takeAlong(w, out[0], in[0], idx, n, inner)
}

// sortOrder sets idx, seen as [?, k, inner], to the indices of the first k elements
// in sorted order of a, seen as [?, n, inner].
func sortOrder(w *Workspace, idx []int64, a *array.Array, k, n, inner int, descending bool) {
	if len(idx) == 0 {
		return
	}
	defer w.Release(w.Mark())
	switch scalarOf(a.DType()) {
	case array.F32:
		rankRows(w, idx, loadOrdered[float32](w, a), k, n, inner, descending)
	case array.F64:
		rankRows(w, idx, loadOrdered[float64](w, a), k, n, inner, descending)
	default:
		rankRows(w, idx, loadOrdered[int64](w, a), k, n, inner, descending)
	}
}

func rankRows[T scalar](w *Workspace, idx []int64, x []T, k, n, inner int, descending bool) {
	keys, pos := Scratch[int64](w, n), Scratch[int64](w, n)
	keys2, pos2 := Scratch[int64](w, n), Scratch[int64](w, n)
	for ; len(x) > 0; x, idx = x[n*inner:], idx[k*inner:] {
		for j := range inner {
			for i := range keys {
				keys[i] = orderKey(x[i*inner+j])
				if descending {
					keys[i] = ^keys[i]
				}
			}
			var best []int64
			if k <= n/8 {
				best = firstK(keys, pos, k)
			} else {
				best = sortKeys(keys, pos, keys2, pos2)
			}
			for i := range k {
				idx[i*inner+j] = best[i]
			}
		}
	}
}

// orderKey maps a value to an integer that compares as the value does: both
// zeros are equal and NaN comes last.
func orderKey[T scalar](v T) int64 {
	if i, ok := any(v).(int64); ok {
		return i
	}
	if v != v {
		return math.MaxInt64
	}
	b := int64(math.Float64bits(float64(v + 0))) // -0 + 0 is +0
	if b < 0 {
		b ^= math.MaxInt64
	}
	return b
}

// radixLen is the length from which keys are sorted by their digits.
const radixLen = 512

// sortKeys is mergeSort, or radixSort of many keys.
func sortKeys(keys, pos, keys2, pos2 []int64) []int64 {
	if len(keys) < radixLen {
		return mergeSort(keys, pos, keys2, pos2)
	}
	return radixSort(keys, pos, keys2, pos2)
}

// radixSort is mergeSort by the bytes of the keys from the lowest on, without
// those that all keys have in common: of f32 that is about half of them.
func radixSort(keys, pos, keys2, pos2 []int64) []int64 {
	var count [8][256]int
	for i, k := range keys {
		pos[i] = int64(i)
		u := uint64(k) ^ signBit
		for b := range count {
			count[b][byte(u>>(8*b))]++
		}
	}
	for b := range count {
		c := &count[b]
		digit := func(k int64) byte { return byte((uint64(k) ^ signBit) >> (8 * b)) }
		if c[digit(keys[0])] == len(keys) {
			continue
		}
		at := 0
		for d, n := range c {
			c[d], at = at, at+n
		}
		for i, k := range keys {
			d := digit(k)
			keys2[c[d]], pos2[c[d]] = k, pos[i]
			c[d]++
		}
		keys, keys2, pos, pos2 = keys2, keys, pos2, pos
	}
	return pos
}

// mergeSort returns the positions of keys in ascending order, equal ones by
// position. It overwrites all four slices, which have the same length.
func mergeSort(keys, pos, keys2, pos2 []int64) []int64 {
	const run = 12
	n := len(keys)
	for i := range pos {
		pos[i] = int64(i)
	}
	for lo := 0; lo < n; lo += run {
		hi := min(lo+run, n)
		for i := lo + 1; i < hi; i++ {
			k, p := keys[i], pos[i]
			j := i
			for ; j > lo && keys[j-1] > k; j-- {
				keys[j], pos[j] = keys[j-1], pos[j-1]
			}
			keys[j], pos[j] = k, p
		}
	}
	for width := run; width < n; width *= 2 {
		for lo := 0; lo < n; lo += 2 * width {
			mid, hi := min(lo+width, n), min(lo+2*width, n)
			i, j := lo, mid
			for o := lo; o < hi; o++ {
				if i < mid && (j >= hi || keys[i] <= keys[j]) {
					keys2[o], pos2[o] = keys[i], pos[i]
					i++
				} else {
					keys2[o], pos2[o] = keys[j], pos[j]
					j++
				}
			}
		}
		keys, keys2, pos, pos2 = keys2, keys, pos2, pos
	}
	return pos
}

// firstK returns the positions of the k least keys in ascending order, equal
// ones by position, at the start of pos. A heap with the worst kept one on top
// makes it n log k.
func firstK(keys, pos []int64, k int) []int64 {
	if k == 0 {
		return nil
	}
	heap := pos[:k]
	for i := range heap {
		heap[i] = int64(i)
	}
	for i := k/2 - 1; i >= 0; i-- {
		siftDown(keys, heap, i)
	}
	for i := k; i < len(keys); i++ {
		if keys[i] < keys[heap[0]] {
			heap[0] = int64(i)
			siftDown(keys, heap, 0)
		}
	}
	for end := k - 1; end > 0; end-- {
		heap[0], heap[end] = heap[end], heap[0]
		siftDown(keys, heap[:end], 0)
	}
	return heap
}

// siftDown restores the order of a heap whose top is the last in sorted order.
func siftDown(keys, heap []int64, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && sortsBefore(keys, heap[c], heap[c+1]) {
			c++
		}
		if !sortsBefore(keys, heap[i], heap[c]) {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}

func sortsBefore(keys []int64, a, b int64) bool {
	return keys[a] < keys[b] || keys[a] == keys[b] && a < b
}

// SearchSorted gives for every element of in[1] the i64 index at which it belongs
// in in[0], sorted along its last dimension: before its equals, or with Right
// behind them. in[0] is one sequence for all, or one for each row of in[1]. NaN
// belongs at the end.
type SearchSorted struct{ Right bool }

// ScratchBytes implements Scratcher.
func (s SearchSorted) ScratchBytes(_, in []*array.Array) int {
	return ownBytes(in[0]) + ownBytes(in[1])
}

// Run implements Step.
func (s SearchSorted) Run(w *Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	seq, x := in[0], in[1]
	if seq.Rank() == 0 || seq.DType() != x.DType() {
		badOperand("searchsorted", "the sequence has no dimensions or another element type")
	}
	idx := rawOut[int64](out[0])
	switch scalarOf(seq.DType()) {
	case array.F32:
		searchRows(s, idx, loadOrdered[float32](w, seq), loadOrdered[float32](w, x), seq, x)
	case array.F64:
		searchRows(s, idx, loadOrdered[float64](w, seq), loadOrdered[float64](w, x), seq, x)
	default:
		searchRows(s, idx, loadOrdered[int64](w, seq), loadOrdered[int64](w, x), seq, x)
	}
}

func searchRows[T scalar](s SearchSorted, idx []int64, seq, x []T, seqOf, xOf *array.Array) {
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

// position returns the first of n elements that lies beyond, by halving; what it is
// for elements out of order is what halving finds.
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
