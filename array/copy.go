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
	var n, d, s [inline]int
	l := nest(dst, src, loops{n[:0], d[:0], s[:0]})
	switch dst.dtype.Size() {
	case 1:
		runCopy(l, Raw[uint8](dst), Raw[uint8](src), dst.offset, src.offset)
	case 2:
		runCopy(l, Raw[uint16](dst), Raw[uint16](src), dst.offset, src.offset)
	case 4:
		runCopy(l, Raw[uint32](dst), Raw[uint32](src), dst.offset, src.offset)
	case 8:
		runCopy(l, Raw[uint64](dst), Raw[uint64](src), dst.offset, src.offset)
	}
}

// inline is the number of loops that need no allocation.
const inline = 8

// loops is the nest of loops over two arrays of one shape, outermost first,
// with neighbours joined where both arrays go on evenly.
type loops struct {
	n, dst, src []int
}

// nest fills l, which is empty, with the loops over dst and src.
func nest(dst, src *Array, l loops) loops {
	for i, n := range dst.shape {
		d, s := dst.strides[i], src.strides[i]
		k := len(l.n) - 1
		switch {
		case n == 1:
		case k >= 0 && l.dst[k] == d*n && l.src[k] == s*n:
			l.n[k], l.dst[k], l.src[k] = l.n[k]*n, d, s
		default:
			l.n, l.dst, l.src = append(l.n, n), append(l.dst, d), append(l.src, s)
		}
	}
	for len(l.n) < 2 { // the kernel below takes two loops
		l.n, l.dst, l.src = inFront(l.n, 1), inFront(l.dst, 0), inFront(l.src, 0)
	}
	return l
}

// inFront puts v before the elements of s.
func inFront(s []int, v int) []int {
	s = append(s, 0)
	copy(s[1:], s)
	s[0] = v
	return s
}

// runCopy walks the outer loops and copies a plane of the inner two at a time.
func runCopy[T uint8 | uint16 | uint32 | uint64](l loops, dst, src []T, d, s int) {
	outer := len(l.n) - 2
	var buf [inline]int
	at := buf[:]
	if outer > inline {
		at = make([]int, outer)
	}
	for {
		copyPlane(dst, src, d, s, (*[2]int)(l.n[outer:]), (*[2]int)(l.dst[outer:]), (*[2]int)(l.src[outer:]))
		k := outer - 1
		for ; k >= 0; k-- {
			at[k]++
			d, s = d+l.dst[k], s+l.src[k]
			if at[k] < l.n[k] {
				break
			}
			d, s = d-at[k]*l.dst[k], s-at[k]*l.src[k]
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

func copyPlane[T uint8 | uint16 | uint32 | uint64](dst, src []T, d, s int, n, ds, ss *[2]int) {
	if ds[1] == 1 && ss[1] == 1 {
		for range n[0] {
			copy(dst[d:d+n[1]], src[s:s+n[1]])
			d, s = d+ds[0], s+ss[0]
		}
		return
	}
	for i0 := 0; i0 < n[0]; i0 += tile {
		i1 := min(i0+tile, n[0])
		for j0 := 0; j0 < n[1]; j0 += tile {
			j1 := min(j0+tile, n[1])
			for i := i0; i < i1; i++ {
				p, q := d+i*ds[0]+j0*ds[1], s+i*ss[0]+j0*ss[1]
				for range j1 - j0 {
					dst[p] = src[q]
					p, q = p+ds[1], q+ss[1]
				}
			}
		}
	}
}
