package array

import "unsafe"

// Array is a strided view of a storage. Strides and offset count elements, not
// bytes; a stride may be zero (expand) or negative (flip).
// The header is treated as immutable once shared, except by Reset.
type Array struct {
	dtype   DType
	shape   []int
	strides []int
	offset  int
	store   *Storage
}

// New returns a contiguous array of zeros. It panics with a *diag.Error of CodeTooLarge when
// the array would have more bytes than MaxBytes, or than an int counts, also where a size
// of 0 makes them none: see NumElems.
func New(d DType, shape ...int) *Array { return fresh(d, shape, true) }

// NewUncleared is New without the zeros: the elements are anything, and what makes the array writes
// all of them before anybody else sees it.
func NewUncleared(d DType, shape ...int) *Array { return fresh(d, shape, false) }

// block is an array with the header of its storage and room for a layout of few dimensions, so that
// an array is two allocations: this and the elements.
type block struct {
	Array
	storage Storage
	layout  [2 * 4]int
}

func fresh(d DType, shape []int, clear bool) *Array {
	b := &block{}
	a := &b.Array
	if rank := len(shape); rank > 0 && 2*rank <= len(b.layout) {
		a.shape, a.strides = b.layout[:0:rank], b.layout[rank:rank:2*rank]
	}
	n := a.Reset(d, shape)
	b.storage.init(n*d.Size(), clear)
	a.store = &b.storage
	return a
}

// Make returns an array over an existing storage with the given layout.
// It is the caller's duty that every element lies within the storage.
func Make(d DType, shape, strides []int, offset int, s *Storage) *Array {
	return &Array{dtype: d, shape: shape, strides: strides, offset: offset, store: s}
}

// FromSlice returns a contiguous array over data (no copy). No shape means one
// dimension. It panics when the shape does not hold len(data) elements.
func FromSlice[T Elem](data []T, shape ...int) *Array {
	if shape == nil {
		shape = []int{len(data)}
	}
	a := &Array{}
	if a.Reset(DTypeOf[T](), append([]int(nil), shape...)) != len(data) {
		panic("array: FromSlice: shape does not match the number of elements")
	}
	var z T
	a.store = WrapBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(z))))
	a.store.born |= 2
	return a
}

// Scalar returns a 0-dimensional array holding v.
func Scalar[T Elem](v T) *Array {
	a := New(DTypeOf[T]())
	Data[T](a)[0] = v
	return a
}

// Reset makes a a contiguous array of the given type and shape at offset 0 of
// its storage and returns the element count. It panics as New does for a shape that
// has more bytes than an int counts. It reuses a's slices, so that
// executors can change shapes without allocating. Inlined, its two appends would be
// much of a small program.
//
//go:noinline
func (a *Array) Reset(d DType, shape []int) int {
	countable(d, shape)
	a.dtype, a.offset = d, 0
	if rank := len(shape); rank > 0 && a.shape == nil && a.strides == nil { // in one piece
		both := make([]int, 2*rank)
		a.shape, a.strides = both[:0:rank], both[rank:rank]
	}
	a.shape = append(a.shape[:0], shape...)
	a.strides = append(a.strides[:0], shape...)
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		a.strides[i] = n
		n *= shape[i]
	}
	return n
}

// SetStorage points a at s, starting offset elements in.
func (a *Array) SetStorage(s *Storage, offset int) { a.store, a.offset = s, offset }

// SetLayout makes a a view of src's storage with its own shape and strides
// (copied into a's slices); the element type is src's.
func (a *Array) SetLayout(src *Array, shape, strides []int, offset int) {
	a.dtype, a.store, a.offset = src.dtype, src.store, offset
	a.shape = append(a.shape[:0], shape...)
	a.strides = append(a.strides[:0], strides...)
}

// DType returns the element type.
func (a *Array) DType() DType { return a.dtype }

// Rank returns the number of dimensions.
func (a *Array) Rank() int { return len(a.shape) }

// Shape returns the dimensions; the caller must not change them.
func (a *Array) Shape() []int { return a.shape }

// Dim returns dimension i; a negative i counts from the end.
func (a *Array) Dim(i int) int {
	if i < 0 {
		i += len(a.shape)
	}
	return a.shape[i]
}

// Strides returns the strides in elements; the caller must not change them.
func (a *Array) Strides() []int { return a.strides }

// Offset returns the index in the storage of the first element.
func (a *Array) Offset() int { return a.offset }

// Storage returns the storage that views share.
func (a *Array) Storage() *Storage { return a.store }

// Len returns the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.shape {
		n *= d
	}
	return n
}

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (a *Array) IsContiguous() bool {
	n := 1
	for i := len(a.shape) - 1; i >= 0; i-- {
		if a.shape[i] == 0 {
			return true
		}
		if a.shape[i] != 1 && a.strides[i] != n {
			return false
		}
		n *= a.shape[i]
	}
	return true
}

// Data returns the elements of a contiguous array, not a copy. It panics when T
// is not the element type or a is not contiguous.
func Data[T Elem](a *Array) []T {
	p, n := a.first(DTypeOf[T]())
	return unsafe.Slice((*T)(p), n)
}

// first returns the first of the elements and their number; nil and 0 when
// there is none, for the offset of an empty view may lie past its storage. It is
// the part of Data that is the same for all types, which keeps programs small.
func (a *Array) first(d DType) (unsafe.Pointer, int) {
	if d != a.dtype {
		panic("array: Data: element type is " + a.dtype.String() + ", asked for " + d.String())
	}
	if !a.IsContiguous() {
		panic("array: Data: array is not contiguous")
	}
	n := a.Len()
	if n == 0 {
		return nil, 0
	}
	size := d.Size()
	b := a.store.bytes[a.offset*size : (a.offset+n)*size]
	return unsafe.Pointer(unsafe.SliceData(b)), n
}

// Raw returns the whole storage as elements of type T; index it with Offset and
// Strides. T's size must be the element size.
func Raw[T Elem](a *Array) []T {
	return elements[T](a.store.bytes)
}

// elements returns memory as elements of type T.
func elements[T Elem](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
