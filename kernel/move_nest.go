package kernel

import (
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// nestDepth is the most dimensions left after merging: every one holds at least
// two elements, so more of them would exceed the address space.
const nestDepth = 48

// moveNest is a copy loop nest, outermost dimension first: sizes and, for the
// destination and the source, strides in elements. Dimensions of one element
// vanish and neighbours that are one run in both operands merge.
type moveNest struct {
	n      int
	empty  bool
	stream bool // the whole result is too large to be found in a cache later
	size   [nestDepth]int
	d, s   [nestDepth]int
}

// push adds the next inner dimension.
func (m *moveNest) push(size, d, s int) {
	if size == 1 {
		return
	}
	if size == 0 {
		m.empty = true
	}
	if m.empty {
		return
	}
	if k := m.n - 1; k >= 0 && m.d[k] == size*d && m.s[k] == size*s {
		m.size[k] *= size
		m.d[k], m.s[k] = d, s
		return
	}
	if m.n == nestDepth {
		badOperand("copy", "operand has more than "+strconv.Itoa(nestDepth)+" separate dimensions")
	}
	m.size[m.n], m.d[m.n], m.s[m.n] = size, d, s
	m.n++
}

// pushDense adds all dimensions of shape: the destination is row-major, the
// source has the given strides.
func (m *moveNest) pushDense(shape, strides []int) {
	n := prod(shape)
	for i, size := range shape {
		if size > 0 {
			n /= size
		}
		m.push(size, n, strides[i])
	}
}

// elems returns the number of elements that the nest copies.
func (m *moveNest) elems() int {
	n := 1
	for _, size := range m.size[:m.n] {
		n *= size
	}
	return n
}

// order brings the dimension along which the source lies close, where that is
// not the innermost one, next to it: the two are then transposed in tiles.
func (m *moveNest) order() {
	last := m.n - 1
	if last < 2 || m.s[last] == 1 || m.s[last] == 0 || m.s[last-1] == 1 {
		return
	}
	for p := last - 2; p >= 0; p-- {
		if m.s[p] != 1 {
			continue
		}
		size, d := m.size[p], m.d[p]
		copy(m.size[p:last-1], m.size[p+1:last])
		copy(m.d[p:last-1], m.d[p+1:last])
		copy(m.s[p:last-1], m.s[p+1:last])
		m.size[last-1], m.d[last-1], m.s[last-1] = size, d, 1
		return
	}
}

// tiled reports whether the two innermost dimensions are a matrix to transpose: a
// row that is scattered in the source while its neighbour rows are close.
func (m *moveNest) tiled() bool {
	return m.n >= 2 && m.s[m.n-1] != 1 && m.s[m.n-1] != 0 && m.s[m.n-2] == 1
}

// within panics unless the nest stays inside of operands of so many elements.
func (m *moveNest) within(do, dst, so, src int) {
	if low, high := reach(do, m.size[:m.n], m.d[:m.n]); low < 0 || high >= dst {
		badOperand("copy", "the result's layout leaves its memory")
	}
	if low, high := reach(so, m.size[:m.n], m.s[:m.n]); low < 0 || high >= src {
		badOperand("copy", "the operand's layout leaves its memory")
	}
}

// reach returns the first and the last position of a layout that is not empty.
func reach(at int, size, strides []int) (low, high int) {
	low, high = at, at
	for i, n := range size {
		if d := (n - 1) * strides[i]; d < 0 {
			low += d
		} else {
			high += d
		}
	}
	return low, high
}

const (
	// moveGrain is the number of elements below which a copy stays on one thread.
	moveGrain = 1 << 15
	// streamBytes is the size from which results are written past the caches: what
	// reads them next finds them there in no case.
	streamBytes = 8 << 20
)

// moveJob copies a range of the outermost dimension.
type moveJob[T array.Elem] struct {
	dst, src []T
	do, so   int
	nest     *moveNest
}

// Do implements Job.
func (j *moveJob[T]) Do(lo, hi int) {
	m := *j.nest
	m.size[0] = hi - lo
	moveElems(j.dst, j.do+lo*m.d[0], j.src, j.so+lo*m.s[0], &m)
}

// moveSplit is moveElems, on several threads where it pays.
func moveSplit[T array.Elem](w *Workspace, dst []T, do int, src []T, so int, m *moveNest) {
	m.order()
	n := m.elems()
	m.stream = n*elemSize[T]() >= streamBytes
	if w.Threads <= 1 || n < 2*moveGrain {
		moveElems(dst, do, src, so, m)
		return
	}
	j := takeJob[moveJob[T]](w)
	nest := takeJob[moveNest](w)
	*nest = *m
	*j = moveJob[T]{dst, src, do, so, nest}
	grain := max(moveGrain*m.size[0]/n, 1)
	if m.n <= 2 {
		grain = (grain + 63) &^ 63 // whole tiles and whole lines of a cache
	}
	w.Parallel(m.size[0], grain, j)
	putJob(w, nest)
	putJob(w, j)
}

// elemSize is the number of bytes of a T.
func elemSize[T array.Elem]() int {
	var z T
	return int(unsafe.Sizeof(z))
}

// moveElems walks the outer dimensions and copies the innermost one or two.
func moveElems[T array.Elem](dst []T, do int, src []T, so int, m *moveNest) {
	if m.empty {
		return
	}
	m.within(do, len(dst), so, len(src))
	if m.n == 0 {
		dst[do] = src[so]
		return
	}
	in := 1
	tiled := m.tiled()
	if tiled || m.n >= 2 && m.d[m.n-1] == 1 && m.s[m.n-1] == 1 {
		in = 2
	}
	k := m.n - in
	var at [nestDepth]int
	for {
		switch {
		case moveFast(unsafe.Pointer(&dst[do]), unsafe.Pointer(&src[so]), elemSize[T](), m):
		case in == 2:
			moveTile(dst, do, src, so, m)
		default:
			moveRow(dst, do, m.d[k], src, so, m.s[k], m.size[k])
		}
		i := k - 1
		for ; i >= 0; i-- {
			at[i]++
			do += m.d[i]
			so += m.s[i]
			if at[i] < m.size[i] {
				break
			}
			do -= m.d[i] * m.size[i]
			so -= m.s[i] * m.size[i]
			at[i] = 0
		}
		if i < 0 {
			break
		}
	}
	if m.stream {
		orderStores()
	}
}

// moveRow copies n elements between two strided runs.
func moveRow[T array.Elem](dst []T, do, ds int, src []T, so, ss, n int) {
	switch {
	case ds == 1 && ss == 1:
		copy(dst[do:do+n], src[so:so+n])
	case ds == 1 && ss == 0:
		v := src[so]
		row := dst[do : do+n]
		for i := range row {
			row[i] = v
		}
	case ds == 1:
		row := dst[do : do+n]
		for i := range row {
			row[i] = src[so]
			so += ss
		}
	default:
		for ; n > 0; n-- {
			dst[do] = src[so]
			do += ds
			so += ss
		}
	}
}

// moveTile copies the two innermost dimensions tile by tile.
func moveTile[T array.Elem](dst []T, do int, src []T, so int, m *moveNest) {
	tile := 32
	if !m.tiled() {
		tile = max(m.size[m.n-1], 1)
	}
	a, b := m.n-2, m.n-1
	for i := 0; i < m.size[a]; i += tile {
		ie := min(i+tile, m.size[a])
		for j := 0; j < m.size[b]; j += tile {
			je := min(j+tile, m.size[b])
			for r := i; r < ie; r++ {
				moveRow(dst, do+r*m.d[a]+j*m.d[b], m.d[b], src, so+r*m.s[a]+j*m.s[b], m.s[b], je-j)
			}
		}
	}
}
