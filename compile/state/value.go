package state

import (
	"reflect"
	"unsafe"

	"github.com/gofx-dev/gofx/tensor"
)

// kind says how a word of memory is compared and copied.
type kind uint8

const (
	bits     kind = iota // of 1, 2, 4 or 8 bytes
	text                 // a string, by its bytes
	pointer              // by where it leads
	handle               // *tensor.Tensor
	slice                // by where it leads, length and capacity
	dynamic              // an interface: its type, and where it leads or what it holds
	mapping              // a map, by its entries
	function             // a func value, by identity
	opaque               // what cannot be compared
)

var (
	handleType = reflect.TypeFor[*tensor.Tensor]()
	tensorType = handleType.Elem()
)

// kindOf returns the kind of a type that is no struct and no array, and its bytes where it is bits.
func kindOf(t reflect.Type) (k kind, size uintptr) {
	if t == handleType {
		return handle, 0
	}
	switch t.Kind() {
	case reflect.String:
		return text, 0
	case reflect.Pointer:
		return pointer, 0
	case reflect.Slice:
		return slice, 0
	case reflect.Interface:
		return dynamic, 0
	case reflect.Map:
		return mapping, 0
	case reflect.Func:
		return function, 0
	case reflect.Chan, reflect.UnsafePointer, reflect.Struct, reflect.Array, reflect.Invalid:
		return opaque, 0
	}
	return bits, t.Size()
}

// header is how slices and interfaces begin in memory.
type header struct {
	data unsafe.Pointer
	n, c int
}

type face struct{ typ, data unsafe.Pointer }

// value is what a word holds.
type value struct {
	u    uint64
	typ  unsafe.Pointer // of an interface
	p    unsafe.Pointer
	n, c int
	s    string
}

// load reads a word.
func load(k kind, size uintptr, at unsafe.Pointer) (v value) {
	switch k {
	case bits:
		v.u = loadBits(size, at)
	case text:
		v.s = *(*string)(at)
	case pointer, handle, mapping, function, opaque:
		v.p = *(*unsafe.Pointer)(at)
	case slice:
		h := (*header)(at)
		v.p, v.n, v.c = h.data, h.n, h.c
	case dynamic:
		f := (*face)(at)
		v.typ, v.p = f.typ, f.data
	}
	return v
}

func loadBits(size uintptr, at unsafe.Pointer) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(at))
	case 2:
		return uint64(*(*uint16)(at))
	case 4:
		return uint64(*(*uint32)(at))
	}
	return *(*uint64)(at)
}

// store writes a word.
func store(k kind, size uintptr, at unsafe.Pointer, v value) {
	switch k {
	case bits:
		storeBits(size, at, v.u)
	case text:
		*(*string)(at) = v.s
	case pointer, handle, mapping, function, opaque:
		*(*unsafe.Pointer)(at) = v.p
	case slice:
		*(*header)(at) = header{v.p, v.n, v.c}
	case dynamic:
		*(*face)(at) = face{v.typ, v.p}
	}
}

func storeBits(size uintptr, at unsafe.Pointer, u uint64) {
	switch size {
	case 1:
		*(*uint8)(at) = uint8(u)
	case 2:
		*(*uint16)(at) = uint16(u)
	case 4:
		*(*uint32)(at) = uint32(u)
	default:
		*(*uint64)(at) = u
	}
}
