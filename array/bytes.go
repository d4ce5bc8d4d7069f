package array

import (
	"runtime"
	"unsafe"
)

// readsAnywhere reports whether the machine reads numbers at any address, as fast as at multiples of their size.
const readsAnywhere = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// Readable reports whether elements can be read where b lies: at a multiple of their size, or on any address where the
// machine can.
func Readable(b []byte, d DType) bool {
	return readsAnywhere || len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(d.Size()) == 0
}

// LittleEndian reports the byte order of the machine.
func LittleEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}

// FromBytes returns a contiguous array over b, which holds the elements in row-major
// order and the machine's byte order and must not change while the array is in use. The
// array has memory of its own, and shared is false, where b is not Readable,
// has no bytes, or holds bools of other bytes than 0 and 1, which are true.
// It panics when b has another length than the shape needs.
func FromBytes(b []byte, d DType, shape ...int) (a *Array, shared bool) {
	n, ok := NumElems(shape)
	if !ok || n > maxInt/d.Size() || n*d.Size() != len(b) {
		panic("array: FromBytes: shape does not match the number of bytes")
	}
	odd := d == Bool && !AreTruths(b)
	if len(b) > 0 && !odd && Readable(b, d) {
		a = Make(d, nil, nil, 0, WrapBytes(b))
		a.Reset(d, shape)
		return a, true
	}
	a = New(d, shape...)
	copy(a.store.bytes, b)
	if odd {
		Truths(a.store.bytes)
	}
	return a, false
}
