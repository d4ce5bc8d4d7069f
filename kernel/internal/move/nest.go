package move

import (
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// NestDepth is the most dimensions left after merging: every one holds at least
// two elements, so more of them would exceed the address space.
const NestDepth = 48

// Nest is a copy loop nest, outermost dimension first: sizes and, for the
// destination and the source, strides in elements. Dimensions of one element
// vanish and neighbours that are one run in both operands merge.
type Nest struct {
	N      int
	empty  bool
	Stream bool // the whole result is too large to be found in a cache later
	Size   [NestDepth]int
	D, S   [NestDepth]int
}

// Push adds the next inner dimension.
func (m *Nest) Push(size, d, s int) {
	if size == 1 {
		return
	}
	if size == 0 {
		m.empty = true
	}
	if m.empty {
		return
	}
	if k := m.N - 1; k >= 0 && m.D[k] == size*d && m.S[k] == size*s {
		m.Size[k] *= size
		m.D[k], m.S[k] = d, s
		return
	}
	if m.N == NestDepth {
		operand.BadOperand("copy", "operand has more than "+strconv.Itoa(NestDepth)+" separate dimensions")
	}
	m.Size[m.N], m.D[m.N], m.S[m.N] = size, d, s
	m.N++
}

// pushDense adds all dimensions of shape: the destination is row-major, the
// source has the given strides.
func (m *Nest) pushDense(shape, strides []int) {
	n := operand.Prod(shape)
	for i, size := range shape {
		if size > 0 {
			n /= size
		}
		m.Push(size, n, strides[i])
	}
}

// elems returns the number of elements that the nest copies.
func (m *Nest) elems() int {
	n := 1
	for _, size := range m.Size[:m.N] {
		n *= size
	}
	return n
}

// order brings the dimension along which the source lies close, where that is
// not the innermost one, next to it: the two are then transposed in tiles.
func (m *Nest) order() {
	last := m.N - 1
	if m.paired() {
		m.longest()
	}
	if last < 2 || m.S[last] == 1 || m.S[last] == 0 || m.S[last-1] == 1 {
		return
	}
	for p := last - 2; p >= 0; p-- {
		if m.S[p] != 1 {
			continue
		}
		size, d := m.Size[p], m.D[p]
		copy(m.Size[p:last-1], m.Size[p+1:last])
		copy(m.D[p:last-1], m.D[p+1:last])
		copy(m.S[p:last-1], m.S[p+1:last])
		m.Size[last-1], m.D[last-1], m.S[last-1] = size, d, 1
		return
	}
}

// tiled reports whether the two innermost dimensions are a matrix to transpose: a
// row that is scattered in the source while its neighbour rows are close.
func (m *Nest) tiled() bool {
	return m.N >= 2 && m.S[m.N-1] != 1 && m.S[m.N-1] != 0 && m.S[m.N-2] == 1
}

// paired reports whether the two innermost dimensions bring the elements of two rows
// together in pairs, as a stride of two does.
func (m *Nest) paired() bool {
	return m.tiled() && m.Size[m.N-1] == 2 && m.D[m.N-1] == 1 && m.D[m.N-2] == 2
}

// longest brings the longest dimension but the first one, which threads share, next to
// pairs: a call takes all rows of it.
func (m *Nest) longest() {
	at := m.N - 3
	if at < 1 {
		return
	}
	best := at
	for p := 1; p < at; p++ {
		if m.Size[p] > m.Size[best] {
			best = p
		}
	}
	for _, list := range []*[NestDepth]int{&m.Size, &m.D, &m.S} {
		list[at], list[best] = list[best], list[at]
	}
}

// within panics unless the nest stays inside of operands of so many elements.
func (m *Nest) within(do, dst, so, src int) {
	if low, high := reach(do, m.Size[:m.N], m.D[:m.N]); low < 0 || high >= dst {
		operand.BadOperand("copy", "the result's layout leaves its memory")
	}
	if low, high := reach(so, m.Size[:m.N], m.S[:m.N]); low < 0 || high >= src {
		operand.BadOperand("copy", "the operand's layout leaves its memory")
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

// moveJob copies a range of the outermost dimension.
type moveJob[T array.Elem] struct {
	dst, src []T
	do, so   int
	nest     *Nest
}

// Do implements Job.
func (j *moveJob[T]) Do(lo, hi int) {
	m := *j.nest
	m.Size[0] = hi - lo
	moveElems(j.dst, j.do+lo*m.D[0], j.src, j.so+lo*m.S[0], &m)
}

// moveSplit is moveElems, on several threads where it pays.
func moveSplit[T array.Elem](w *par.Workspace, dst []T, do int, src []T, so int, m *Nest) {
	m.order()
	n := m.elems()
	m.Stream = n*elemSize[T]() >= StreamBytes()
	if w.Threads <= 1 || n < 2*copied {
		moveElems(dst, do, src, so, m)
		return
	}
	j := par.TakeJob[moveJob[T]](w)
	nest := par.TakeJob[Nest](w)
	*nest = *m
	*j = moveJob[T]{dst, src, do, so, nest}
	grain := max(copied*m.Size[0]/n, 1)
	if m.N <= 2 {
		grain = (grain + 63) &^ 63 // whole tiles and whole lines of a cache
	}
	w.Parallel(m.Size[0], grain, j)
	par.PutJob(w, nest)
	par.PutJob(w, j)
}

// elemSize is the number of bytes of a T.
func elemSize[T array.Elem]() int {
	var z T
	return int(unsafe.Sizeof(z))
}

// moveElems walks the outer dimensions and copies the innermost one or two, three where
// assembly brings pairs together. The two innermost ones are a matrix where rows and columns are runs on different
// sides, else rows, and assembly takes them where it can. The outer dimensions
// are counted like an odometer, which costs little compared with a row.
func moveElems[T array.Elem](dst []T, do int, src []T, so int, m *Nest) {
	if m.empty {
		return
	}
	m.within(do, len(dst), so, len(src))
	if m.N == 0 {
		dst[do] = src[so]
		return
	}
	in := 1
	tiled := m.tiled()
	if tiled || m.N >= 2 && m.D[m.N-1] == 1 && m.S[m.N-1] == 1 {
		in = 2
	}
	pairs := cpu.X86 && m.paired() && pairsFast(elemSize[T](), m)
	if pairs {
		in = min(3, m.N)
	}
	k := m.N - in
	var at [NestDepth]int
	for {
		switch {
		case pairs:
			movePairs(unsafe.Pointer(&dst[do]), unsafe.Pointer(&src[so]), elemSize[T](), m)
		case cpu.X86 && Fast(unsafe.Pointer(&dst[do]), unsafe.Pointer(&src[so]), elemSize[T](), m):
		case in == 2:
			moveTile(dst, do, src, so, m)
		default:
			moveRow(dst, do, m.D[k], src, so, m.S[k], m.Size[k])
		}
		i := k - 1
		for ; i >= 0; i-- {
			at[i]++
			do += m.D[i]
			so += m.S[i]
			if at[i] < m.Size[i] {
				break
			}
			do -= m.D[i] * m.Size[i]
			so -= m.S[i] * m.Size[i]
			at[i] = 0
		}
		if i < 0 {
			break
		}
	}
	if m.Stream {
		OrderStores()
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

// moveTile copies the two innermost dimensions tile by tile. 32 by 32 elements are
// lines of both sides that the first cache holds, so that each is fetched once,
// whichever side is across.
func moveTile[T array.Elem](dst []T, do int, src []T, so int, m *Nest) {
	tile := 32
	a, b := m.N-2, m.N-1
	switch {
	case !m.tiled():
		tile = max(m.Size[b], 1)
	case m.paired() && m.S[b] > 0:
		interleave(dst[do:], src[so:], src[so+m.S[b]:], m.Size[a])
		return
	}
	for i := 0; i < m.Size[a]; i += tile {
		ie := min(i+tile, m.Size[a])
		for j := 0; j < m.Size[b]; j += tile {
			je := min(j+tile, m.Size[b])
			for r := i; r < ie; r++ {
				moveRow(dst, do+r*m.D[a]+j*m.D[b], m.D[b], src, so+r*m.S[a]+j*m.S[b], m.S[b], je-j)
			}
		}
	}
}

// interleave sets dst to n pairs of an element of each source: elements that a
// stride of two brings together.
func interleave[T array.Elem](dst, even, odd []T, n int) {
	dst, even, odd = dst[:2*n], even[:n], odd[:n]
	for i, v := range even {
		pair := dst[2*i : 2*i+2]
		pair[0], pair[1] = v, odd[i]
	}
}

// ToLine returns the number of bytes from p to the next line of the cache.
func ToLine(p unsafe.Pointer) int { return -int(uintptr(p)) & (moveLine - 1) }
