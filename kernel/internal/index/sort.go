package index

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Sort orders in[0] along Dim: out[0] has the values, out[1] their i64 indices
// along Dim. NaN counts as greater than every number. Equal elements keep
// their order whether or not Stable asks for it, so results are deterministic.
//
//gofx:kernel
type Sort struct {
	Dim                int
	Descending, Stable bool
}

// ScratchBytes implements Scratcher.
func (s Sort) ScratchBytes(_, in []*array.Array) int {
	_, n, _ := reduce.SplitAt("sort", in[0], s.Dim)
	return reduce.OwnBytes(in[0]) + 4*par.ScratchSize(n, 8)
}

// Run implements Step.
func (s Sort) Run(w *par.Workspace, out, in []*array.Array) {
	_, n, inner := reduce.SplitAt("sort", in[0], s.Dim)
	idx := move.RawOut[int64](out[1])
	sortOrder(w, idx, in[0], n, n, inner, s.Descending)
	reduce.TakeAlong(w, out[0], in[0], idx, n, inner)
}

// TopK takes the K greatest (or with Largest false the least) elements along
// Dim: out[0] has the values, out[1] their i64 indices. They come in order,
// equal ones by index, whether or not Sorted asks for it. NaN counts as
// greater than every number.
//
//gofx:kernel
type TopK struct {
	K, Dim          int
	Largest, Sorted bool
}

// ScratchBytes implements Scratcher.
func (t TopK) ScratchBytes(_, in []*array.Array) int {
	_, n, _ := reduce.SplitAt("topk", in[0], t.Dim)
	return reduce.OwnBytes(in[0]) + 4*par.ScratchSize(n, 8)
}

// Run implements Step.
func (t TopK) Run(w *par.Workspace, out, in []*array.Array) {
	_, n, inner := reduce.SplitAt("topk", in[0], t.Dim)
	if t.K < 0 || t.K > n {
		operand.BadOperand("topk", "k exceeds the size of the dimension")
	}
	idx := move.RawOut[int64](out[1])
	sortOrder(w, idx, in[0], t.K, n, inner, t.Largest)
	reduce.TakeAlong(w, out[0], in[0], idx, n, inner)
}

// sortOrder sets idx, seen as [?, k, inner], to the indices of the first k elements
// in sorted order of a, seen as [?, n, inner].
func sortOrder(w *par.Workspace, idx []int64, a *array.Array, k, n, inner int, descending bool) {
	if len(idx) == 0 {
		return
	}
	defer w.Release(w.Mark())
	switch move.ScalarOf(a.DType()) {
	case array.F32:
		rankRows(w, idx, move.LoadOrdered[float32](w, a), k, n, inner, descending)
	case array.F64:
		rankRows(w, idx, move.LoadOrdered[float64](w, a), k, n, inner, descending)
	default:
		rankRows(w, idx, move.LoadOrdered[int64](w, a), k, n, inner, descending)
	}
}

// rankRows sets idx to the positions of the first k of each row of n. Keys of a
// row are laid out as integers in the order of the values, so that one sort of
// integers serves all types, in four slices that stay in a cache from row to row.
func rankRows[T move.Scalar](w *par.Workspace, idx []int64, x []T, k, n, inner int, descending bool) {
	keys, pos := par.Scratch[int64](w, n), par.Scratch[int64](w, n)
	keys2, pos2 := par.Scratch[int64](w, n), par.Scratch[int64](w, n)
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
func orderKey[T move.Scalar](v T) int64 {
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

// sortKeys is mergeSort, or radixSort of many keys.
func sortKeys(keys, pos, keys2, pos2 []int64) []int64 {
	if len(keys) < radixLen {
		return mergeSort(keys, pos, keys2, pos2)
	}
	return radixSort(keys, pos, keys2, pos2)
}

// radixSort is mergeSort by the bytes of the keys from the lowest on, without
// those that all keys have in common: of f32 that is about half of them. The
// counts of all bytes are made in one pass before the first one moves anything,
// for the counts do not depend on the order.
func radixSort(keys, pos, keys2, pos2 []int64) []int64 {
	var count [8][256]int
	for i, k := range keys {
		pos[i] = int64(i)
		u := uint64(k) ^ vmath.SignBit
		for b := range count {
			count[b][byte(u>>(8*b))]++
		}
	}
	for b := range count {
		c := &count[b]
		digit := func(k int64) byte { return byte((uint64(k) ^ vmath.SignBit) >> (8 * b)) }
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
// position. It overwrites all four slices, which have the same length. Runs of
// mergeRun are sorted by insertion, in registers and the first cache, and then
// merged to and fro between the two pairs of slices.
func mergeSort(keys, pos, keys2, pos2 []int64) []int64 {
	n := len(keys)
	for i := range pos {
		pos[i] = int64(i)
	}
	for lo := 0; lo < n; lo += mergeRun {
		hi := min(lo+mergeRun, n)
		for i := lo + 1; i < hi; i++ {
			k, p := keys[i], pos[i]
			j := i
			for ; j > lo && keys[j-1] > k; j-- {
				keys[j], pos[j] = keys[j-1], pos[j-1]
			}
			keys[j], pos[j] = k, p
		}
	}
	for width := mergeRun; width < n; width *= 2 {
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
