package state

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// Map reads and writes maps of one type without reflection. MapOf makes it.
type Map struct {
	typ     reflect.Type
	lookup  func(m unsafe.Pointer, key any) (unsafe.Pointer, bool)
	entries func(m unsafe.Pointer) (keys []any) // in an order that depends on them alone: two walks are compared
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
			sortKeys(keys)
			return keys
		},
		set:    func(m unsafe.Pointer, key any, value unsafe.Pointer) { at(m)[key.(K)] = *(*V)(value) },
		remove: func(m unsafe.Pointer, key any) { delete(at(m), key.(K)) },
		size:   func(m unsafe.Pointer) int { return len(at(m)) },
		fresh:  func() unsafe.Pointer { m := map[K]V{}; return unsafe.Pointer(&m) },
	}
}

// sortKeys orders keys of one type. Go's own order differs from one look at a map to the next.
func sortKeys(keys []any) {
	slices.SortFunc(keys, func(a, b any) int { return compareKeys(reflect.ValueOf(a), reflect.ValueOf(b)) })
}

// compareKeys orders values of a type that isKey allows.
func compareKeys(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	}
	switch a.Kind() {
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Bool:
		if a.Bool() == b.Bool() {
			return 0
		} else if b.Bool() {
			return -1
		}
		return 1
	case reflect.Struct:
		for i := range a.NumField() {
			if c := compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if c := compareKeys(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	}
	return 0
}
