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
	Copy(c, a)
	return c
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
	runCopy(dst, src, nest(dst, src, room[:0]))
}

// inline is the number of loops that need no allocation.
const inline = 8

// loop is one of a nest of loops over two arrays of one shape.
type loop struct{ n, dst, src int }

// nest appends to l, which is empty, the loops over dst and src, outermost first,
// with neighbours joined where both arrays go on evenly. They are two at least,
// for copyPlane.
func nest(dst, src *Array, l []loop) []loop {
	l = append(l, loop{n: 1}, loop{n: 1})
	for i, n := range dst.shape {
		next := loop{n, dst.strides[i], src.strides[i]}
		switch k := len(l) - 1; {
		case n == 1:
		case l[k].dst == next.dst*n && l[k].src == next.src*n:
			next.n *= l[k].n
			l[k] = next
		case l[0].n == 1:
			l[0], l[1] = l[1], next
		default:
			l = append(l, next)
		}
	}
	return l
}

// runCopy walks the outer loops and copies a plane of the inner two at a time.
func runCopy(dst, src *Array, l []loop) {
	outer := len(l) - 2
	var buf [inline]int
	at := buf[:]
	if outer > inline {
		at = make([]int, outer)
	}
	d, s := dst.offset, src.offset
	for {
		copyPlane(dst, src, d, s, l[outer], l[outer+1])
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

// copyPlane copies a plane whose first elements are d of dst and s of src. Only
// the loops over a tile are written for each size of elements: what surrounds
// them takes no time beside 1024 elements, and is linked once.
func copyPlane(dst, src *Array, d, s int, rows, cols loop) {
	size := dst.dtype.Size()
	if cols.dst == 1 && cols.src == 1 {
		to, from := dst.store.bytes, src.store.bytes
		row, p, q := cols.n*size, d*size, s*size
		for range rows.n {
			copy(to[p:p+row], from[q:q+row])
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
				copyTile[uint8](dst, src, p, q, down, right)
			case 2:
				copyTile[uint16](dst, src, p, q, down, right)
			case 4:
				copyTile[uint32](dst, src, p, q, down, right)
			case 8:
				copyTile[uint64](dst, src, p, q, down, right)
			}
		}
	}
}

func copyTile[T uint8 | uint16 | uint32 | uint64](dst, src *Array, d, s int, rows, cols loop) {
	to, from := Raw[T](dst), Raw[T](src)
	for range rows.n {
		p, q := d, s
		for range cols.n {
			to[p] = from[q]
			p, q = p+cols.dst, q+cols.src
		}
		d, s = d+rows.dst, s+rows.src
	}
}
