package state

import (
	"reflect"
	"unsafe"
)

// Map reads and writes maps of one type without reflection. MapOf makes it.
type Map struct {
	typ     reflect.Type
	lookup  func(m unsafe.Pointer, key any) (unsafe.Pointer, bool)
	entries func(m unsafe.Pointer) (keys []any)
	set     func(m unsafe.Pointer, key any, value unsafe.Pointer)
	remove  func(m unsafe.Pointer, key any)
	size    func(m unsafe.Pointer) int
	fresh   func() unsafe.Pointer
}

// MapOf returns the Map of a map type. m is where the map variable lies.
func MapOf[K comparable, V any]() Map {
	at := func(m unsafe.Pointer) map[K]V { return *(*map[K]V)(m) }
	return Map{
		typ: reflect.TypeFor[map[K]V](),
		lookup: func(m unsafe.Pointer, key any) (unsafe.Pointer, bool) {
			v, ok := at(m)[key.(K)]
			return unsafe.Pointer(&v), ok
		},
		entries: func(m unsafe.Pointer) (keys []any) {
			for k := range at(m) {
				keys = append(keys, k)
			}
			return keys
		},
		set:    func(m unsafe.Pointer, key any, value unsafe.Pointer) { at(m)[key.(K)] = *(*V)(value) },
		remove: func(m unsafe.Pointer, key any) { delete(at(m), key.(K)) },
		size:   func(m unsafe.Pointer) int { return len(at(m)) },
		fresh:  func() unsafe.Pointer { m := map[K]V{}; return unsafe.Pointer(&m) },
	}
}
