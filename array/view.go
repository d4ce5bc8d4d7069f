package array

import (
	"math/bits"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// NumElems returns the number of elements of a shape; ok is false when a
// dimension is negative or the product leaves the range of int. That is so for the
// product of the dimensions that are not 0, too: kernels multiply some dimensions of a
// shape, its strides are such products, and none of them may wrap.
func NumElems(shape []int) (n int, ok bool) {
	prod, zero := uint64(1), false
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d == 0 {
			zero = true
			continue
		}
		hi, lo := bits.Mul64(prod, uint64(d))
		if hi != 0 || lo > uint64(maxInt) {
			return 0, false
		}
		prod = lo
	}
	if zero {
		return 0, true
	}
	return int(prod), true
}

// Countable reports whether there can be a contiguous array of the type and shape: NumElems takes
// the shape, and the number of bytes is an int.
func Countable(d DType, shape []int) bool {
	n, ok := NumElems(shape)
	return ok && n <= maxInt/max(d.Size(), 1)
}

// countable panics with a *diag.Error of CodeTooLarge when no contiguous array of the type and
// shape can be.
func countable(d DType, shape []int) {
	if Countable(d, shape) {
		return
	}
	text := d.String() + "["
	for i, size := range shape {
		if i > 0 {
			text += ","
		}
		text += strconv.Itoa(size)
	}
	panic(diag.New(CodeTooLarge, text+"] takes more bytes than can be counted, expected sizes of 0 or more whose product can be").
		WithHint("check the sizes"))
}

const maxInt = int(^uint(0) >> 1)

// The views below share a's storage. They panic with a message, not with an
// index error, when asked for dimensions or elements that do not exist;
// operators check first.

// view returns a header over a's storage whose slices are its own.
func (a *Array) view(offset int) *Array {
	return &Array{
		dtype: a.dtype, offset: offset, store: a.store,
		shape: append([]int(nil), a.shape...), strides: append([]int(nil), a.strides...),
	}
}

// axis returns dimension dim counted from the front.
func (a *Array) axis(dim int, what string) int {
	i := dim
	if i < 0 {
		i += len(a.shape)
	}
	if i < 0 || i >= len(a.shape) {
		panic("array: " + what + ": dimension " + strconv.Itoa(dim) + " of an array of rank " + strconv.Itoa(len(a.shape)))
	}
	return i
}

// Permute returns the view whose dimension i is a's dimension perm[i]; negative
// entries count from the end. It panics unless perm names each dimension once.
func Permute(a *Array, perm ...int) *Array {
	if len(perm) != a.Rank() {
		panic("array: Permute: " + strconv.Itoa(len(perm)) + " dimensions for an array of rank " + strconv.Itoa(a.Rank()))
	}
	v := a.view(a.offset)
	seen := make([]bool, len(perm))
	for i, p := range perm {
		p = a.axis(p, "Permute")
		if seen[p] {
			panic("array: Permute: dimension " + strconv.Itoa(p) + " is named twice")
		}
		seen[p] = true
		v.shape[i], v.strides[i] = a.shape[p], a.strides[p]
	}
	return v
}

// Expand returns the view of a broadcast to shape, with stride 0 where a
// dimension repeats. It panics when a does not broadcast to exactly shape.
func Expand(a *Array, shape ...int) *Array {
	skip := len(shape) - a.Rank()
	if skip < 0 {
		panic("array: Expand: rank " + strconv.Itoa(a.Rank()) + " does not expand to rank " + strconv.Itoa(len(shape)))
	}
	v := &Array{dtype: a.dtype, offset: a.offset, store: a.store, shape: append([]int{}, shape...), strides: make([]int, len(shape))}
	for i, d := range a.shape {
		switch {
		case shape[skip+i] == d:
			v.strides[skip+i] = a.strides[i]
		case d != 1 || shape[skip+i] < 0:
			panic("array: Expand: size " + strconv.Itoa(d) + " of dimension " + strconv.Itoa(i) + " does not expand to " + strconv.Itoa(shape[skip+i]))
		}
	}
	countable(Invalid, shape) // it takes no bytes
	return v
}

// Slice returns the view of the elements start, start+step, ... below stop of
// one dimension. As in Python, negative start and stop count from the end and
// both are clamped to the dimension; step must be at least 1.
func Slice(a *Array, dim, start, stop, step int) *Array {
	if step < 1 {
		panic("array: Slice: step is " + strconv.Itoa(step) + ", expected at least 1")
	}
	dim = a.axis(dim, "Slice")
	n := a.shape[dim]
	start, stop = clampIndex(start, n), clampIndex(stop, n)
	count := 0
	if stop > start {
		count = (stop-start-1)/step + 1
	}
	offset := a.offset
	if count > 0 { // an empty view keeps an offset inside the storage
		offset += start * a.strides[dim]
	}
	v := a.view(offset)
	v.shape[dim] = count
	if count > 1 {
		v.strides[dim] *= step
	}
	return v
}

func clampIndex(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// Select returns the view without dimension dim at the given index; a negative
// index counts from the end. It panics when the index is out of range.
func Select(a *Array, dim, index int) *Array {
	dim = a.axis(dim, "Select")
	i := index
	if i < 0 {
		i += a.shape[dim]
	}
	if i < 0 || i >= a.shape[dim] {
		panic("array: Select: index " + strconv.Itoa(index) + " of a dimension of size " + strconv.Itoa(a.shape[dim]))
	}
	v := a.view(a.offset + i*a.strides[dim])
	v.shape = append(v.shape[:dim], v.shape[dim+1:]...)
	v.strides = append(v.strides[:dim], v.strides[dim+1:]...)
	return v
}

// Reshape returns a view with the same elements in row-major order, or nil when
// no strides can express it or the element counts differ: then use Contiguous
// first.
func Reshape(a *Array, shape ...int) *Array {
	n, ok := NumElems(shape)
	if !ok || n != a.Len() || n > maxInt/max(a.dtype.Size(), 1) {
		return nil
	}
	v := &Array{dtype: a.dtype, offset: a.offset, store: a.store}
	v.Reset(a.dtype, shape)
	v.offset = a.offset
	if n == 0 || a.IsContiguous() {
		return v
	}
	if !regroup(a, v) {
		return nil
	}
	return v
}

// regroup sets v's strides for v's shape over a's elements: both shapes are cut
// into runs of equal size, and each run of a must be evenly spaced.
func regroup(a, v *Array) bool {
	var old, strides []int
	for i, d := range a.shape {
		if d != 1 {
			old, strides = append(old, d), append(strides, a.strides[i])
		}
	}
	j := 0
	for i := 0; i < len(old); {
		i1, j1 := i+1, j+1
		for p, q := old[i], v.shape[j]; p != q; {
			if p < q {
				p *= old[i1]
				i1++
			} else {
				q *= v.shape[j1]
				j1++
			}
		}
		for k := i; k+1 < i1; k++ {
			if strides[k] != old[k+1]*strides[k+1] {
				return false
			}
		}
		stride := strides[i1-1]
		for k := j1 - 1; k >= j; k-- {
			v.strides[k] = stride
			stride *= v.shape[k]
		}
		i, j = i1, j1
	}
	return true // dimensions after the last run have size 1 and keep any stride
}

// Unsqueeze returns the view with a dimension of size 1 inserted before
// dimension dim; a negative dim counts from the end of the result.
func Unsqueeze(a *Array, dim int) *Array {
	i := dim
	if i < 0 {
		i += a.Rank() + 1
	}
	if i < 0 || i > a.Rank() {
		panic("array: Unsqueeze: dimension " + strconv.Itoa(dim) + " of an array of rank " + strconv.Itoa(a.Rank()))
	}
	v := a.view(a.offset)
	stride := 1
	if i < a.Rank() {
		stride = a.shape[i] * a.strides[i]
	}
	v.shape = append(v.shape[:i], append([]int{1}, a.shape[i:]...)...)
	v.strides = append(v.strides[:i], append([]int{stride}, a.strides[i:]...)...)
	return v
}

// Flip returns the view with the order of the elements along each of dims reversed.
func Flip(a *Array, dims ...int) *Array {
	v := a.view(a.offset)
	for _, d := range dims {
		d = a.axis(d, "Flip")
		if v.shape[d] > 0 && a.Len() > 0 {
			v.offset += (v.shape[d] - 1) * v.strides[d]
			v.strides[d] = -v.strides[d]
		}
	}
	return v
}

// Diagonal returns the view of the elements whose index in dim2 is that in dim1
// plus offset; the two dimensions go and the diagonal is appended as the last.
func Diagonal(a *Array, offset, dim1, dim2 int) *Array {
	d1, d2 := a.axis(dim1, "Diagonal"), a.axis(dim2, "Diagonal")
	if d1 == d2 {
		panic("array: Diagonal: both dimensions are " + strconv.Itoa(d1) + ", expected two different ones")
	}
	v := &Array{dtype: a.dtype, offset: a.offset, store: a.store}
	for i := range a.shape {
		if i != d1 && i != d2 {
			v.shape, v.strides = append(v.shape, a.shape[i]), append(v.strides, a.strides[i])
		}
	}
	n := 0
	if offset >= 0 {
		n = min(a.shape[d1], max(a.shape[d2]-offset, 0))
	} else {
		n = min(a.shape[d2], max(a.shape[d1]+offset, 0))
	}
	if n > 0 && offset >= 0 {
		v.offset += offset * a.strides[d2]
	} else if n > 0 {
		v.offset -= offset * a.strides[d1]
	}
	v.shape, v.strides = append(v.shape, n), append(v.strides, a.strides[d1]+a.strides[d2])
	return v
}

// Repeats reports whether several elements of a lie in one place, as Expand lays
// them.
func Repeats(a *Array) bool {
	for i, step := range a.strides {
		if step == 0 && a.shape[i] > 1 && a.Len() > 0 {
			return true
		}
	}
	return false
}

// Overlap reports whether two arrays may have elements in common: whether the bytes from the first
// element of one to its last lie among those of the other.
func Overlap(a, b *Array) bool {
	if !a.store.Overlaps(b.store) || a.Len() == 0 || b.Len() == 0 { // storages tell almost always, in a few instructions
		return false
	}
	aFrom, aTo := a.extent()
	bFrom, bTo := b.extent()
	return aFrom < bTo && bFrom < aTo
}

// extent returns the addresses of the first byte of an array and after the last.
func (a *Array) extent() (from, to uintptr) {
	first, last := a.offset, a.offset
	for i, n := range a.shape {
		if s := a.strides[i]; s < 0 {
			first += (n - 1) * s
		} else {
			last += (n - 1) * s
		}
	}
	base, _ := a.store.extent()
	size := a.dtype.Size()
	return base + uintptr(first*size), base + uintptr((last+1)*size)
}
