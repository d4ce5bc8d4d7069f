package array

import (
	"bytes"
	"slices"
)

// Contiguous returns a itself when its elements lie in row-major order without
// gaps, else a copy in which they do.
func Contiguous(a *Array) *Array {
	if a.IsContiguous() {
		return a
	}
	return Clone(a)
}

// Clone returns a contiguous copy with a storage of its own.
func Clone(a *Array) *Array {
	c := New(a.dtype, a.shape...)
	CopyTo(c.store.bytes, a)
	return c
}

// CopyTo copies src's elements to the front of dst, in row-major order without
// gaps and in the byte order of the machine. It panics when dst is too short.
func CopyTo(dst []byte, src *Array) {
	n := src.Len()
	if n == 0 {
		return
	}
	var room [inline]loop
	l := append(room[:0], loop{n: 1}, loop{n: 1})
	step := n
	for i, n := range src.shape {
		step /= n
		l = within(l, loop{n, step, src.strides[i]})
	}
	runCopy(dst[:n*src.dtype.Size()], src.store.bytes, 0, src.offset, src.dtype.Size(), l)
}

// Equal reports whether both arrays have the same element type, shape and bits:
// NaN equals a NaN of the same bits, 0 differs from -0.
func Equal(a, b *Array) bool {
	if a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) {
		return false
	}
	return bytes.Equal(Bytes(Contiguous(a)), Bytes(Contiguous(b)))
}

// Bytes returns the memory of the elements of a contiguous array, not a copy, in
// the byte order of the machine. It panics when a is not contiguous.
func Bytes(a *Array) []byte {
	if !a.IsContiguous() {
		panic("array: Bytes: array is not contiguous")
	}
	size, n := a.dtype.Size(), a.Len()
	if n == 0 {
		return nil
	}
	return a.store.bytes[a.offset*size : (a.offset+n)*size : (a.offset+n)*size]
}

// Copy copies src's elements to dst, whatever the strides of both. It panics
// unless element type and shape agree. dst must not have two elements in one
// place; where dst and src overlap they must be the same view.
func Copy(dst, src *Array) {
	if dst.dtype != src.dtype || !slices.Equal(dst.shape, src.shape) {
		panic("array: Copy: to " + describe(dst) + " from " + describe(src))
	}
	if dst.Len() == 0 {
		return
	}
	var room [inline]loop
	l := append(room[:0], loop{n: 1}, loop{n: 1})
	for i, n := range dst.shape {
		l = within(l, loop{n, dst.strides[i], src.strides[i]})
	}
	runCopy(dst.store.bytes, src.store.bytes, dst.offset, src.offset, dst.dtype.Size(), l)
}

// inline is the number of loops that need no allocation.
const inline = 8

// loop is one of a nest of loops over two arrays of one shape, outermost first. A
// nest begins with two loops of one round, so that copyPlane always has its two
// loops.
type loop struct{ n, dst, src int }

// within puts a loop into the innermost one of l: it is joined with that where
// both arrays go on evenly, and takes the place of one of one round.
func within(l []loop, next loop) []loop {
	last := &l[len(l)-1]
	switch {
	case next.n == 1:
	case last.dst == next.dst*next.n && last.src == next.src*next.n:
		next.n *= last.n
		*last = next
	case l[0].n == 1:
		l[0], *last = *last, next
	default:
		l = append(l, next)
	}
	return l
}

// runCopy copies elements of size bytes, the first ones d of dst and s of src. It
// walks the outer loops and copies a plane of the inner two at a time.
func runCopy(dst, src []byte, d, s, size int, l []loop) {
	outer := len(l) - 2
	var buf [inline]int
	at := buf[:]
	if outer > inline {
		at = make([]int, outer)
	}
	for {
		copyPlane(dst, src, d, s, size, l[outer], l[outer+1])
		k := outer - 1
		for ; k >= 0; k-- {
			at[k]++
			d, s = d+l[k].dst, s+l[k].src
			if at[k] < l[k].n {
				break
			}
			d, s = d-at[k]*l[k].dst, s-at[k]*l[k].src
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// tile is the edge of the squares in which planes are copied whose rows are not
// runs in both arrays, so that transposing touches each cache line once.
const tile = 32

// copyPlane copies a plane: its rows, where these are runs in both arrays, else
// its tiles. Only the loops over a tile are written for each element size: the
// surrounding code takes negligible time compared with 1024 elements, and is
// linked once.
func copyPlane(dst, src []byte, d, s, size int, rows, cols loop) {
	if cols.dst == 1 && cols.src == 1 {
		row, p, q := cols.n*size, d*size, s*size
		for range rows.n {
			copy(dst[p:p+row], src[q:q+row])
			p, q = p+rows.dst*size, q+rows.src*size
		}
		return
	}
	down, right := rows, cols
	for i := 0; i < rows.n; i += tile {
		for j := 0; j < cols.n; j += tile {
			down.n, right.n = min(tile, rows.n-i), min(tile, cols.n-j)
			p, q := d+i*rows.dst+j*cols.dst, s+i*rows.src+j*cols.src
			switch size {
			case 1:
				copyTile(dst, src, p, q, down, right)
			case 2:
				copyTile(elements[uint16](dst), elements[uint16](src), p, q, down, right)
			case 4:
				copyTile(elements[uint32](dst), elements[uint32](src), p, q, down, right)
			case 8:
				copyTile(elements[uint64](dst), elements[uint64](src), p, q, down, right)
			}
		}
	}
}

// copyTile is not inlined: alone it has its indices in registers.
//
//go:noinline
func copyTile[T uint8 | uint16 | uint32 | uint64](dst, src []T, d, s int, rows, cols loop) {
	for range rows.n {
		p, q := d, s
		for range cols.n {
			dst[p] = src[q]
			p, q = p+cols.dst, q+cols.src
		}
		d, s = d+rows.dst, s+rows.src
	}
}
